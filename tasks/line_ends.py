r"""Line ends of a text that a model has written again: models write ``\n`` whatever they were shown."""

import re

_LONE_LINE_FEED = re.compile(r"(?<!\r)\n")


def with_line_ends_of(before: str, after: str) -> str:
    r"""Return ``after`` with the line ends of ``before``, be they ``\r\n`` or ``\r``.

    A text without any, or of mixed ones, says nothing of what is wanted: ``after`` stays as it is.
    """
    if "\r" not in before or _LONE_LINE_FEED.search(before):
        return after
    return _LONE_LINE_FEED.sub("\r\n" if "\r\n" in before else "\r", after)
