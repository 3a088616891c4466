"""Bytes of a file as a text, or the place where they are none."""


class NotText(ValueError):
    """Bytes that are no text in UTF-8; the message says where."""


def decoded(data: bytes) -> str:
    """Return the text that ``data`` is.

    NUL stands in no text, but in binary files and in UTF-16 of Latin letters, which is valid UTF-8: a name in it would
    be neither found nor replaced.

    Raises:
        NotText: it is none.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise NotText(f"byte {error.start} is not UTF-8: no text, or in another encoding") from error
    if (place := data.find(b"\0")) >= 0:
        raise NotText(f"byte {place} is NUL: no text, or in another encoding")
    return text
