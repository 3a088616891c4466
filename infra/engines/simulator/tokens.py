"""The simulator's tokenizer: what its ``usage`` counts, and what a cost estimate can be checked against."""

import string

_MARKS = string.punctuation.encode()
_MARKS_TO_SPACES = bytes.maketrans(_MARKS, b" " * len(_MARKS))


def count_tokens(text: str) -> int:
    """Count words and punctuation marks: ``Don't pay $5.`` has seven tokens (don, ', t, pay, $, 5 and the full stop).

        tokens = runs without ASCII space or punctuation + ASCII punctuation marks + (UTF-8 bytes - code points) // 2

    The last term stands for scripts without spaces: about one token for each Chinese or Korean character. The same rule
    counts prompts (the sum over the contents of all messages, nothing for roles or a schema) and completions.
    """
    encoded = text.encode("utf-8", "surrogatepass")
    words = len(encoded.translate(_MARKS_TO_SPACES).split())
    marks = len(encoded) - len(encoded.translate(None, _MARKS))
    return words + marks + (len(encoded) - len(text)) // 2


def cut_tokens(text: str, limit: int) -> str:
    """Return the longest beginning of ``text`` with at most ``limit`` tokens."""
    low, high = 0, len(text)
    while low < high:  # the count never falls as the beginning grows
        middle = (low + high + 1) // 2
        if count_tokens(text[:middle]) <= limit:
            low = middle
        else:
            high = middle - 1
    return text[:low]
