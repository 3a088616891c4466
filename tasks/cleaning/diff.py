"""What a rewriting changed: stretches of the text before, and what stands there after it."""

from collections.abc import Sequence
from dataclasses import dataclass

import regex
from rapidfuzz.distance import Indel

_TOKEN = regex.compile(
    r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]|[\w\p{M}'’]+|[^\w\s]", regex.VERSION0
)
_HAS_WORD = regex.compile(r"\w")


@dataclass(frozen=True, slots=True)
class Change:
    """A stretch ``[start, stop)`` of a text, in code points, and what stands in its place; either may be empty."""

    start: int
    stop: int
    before: str
    after: str


def has_word(text: str) -> bool:
    """Whether a letter or a digit stands in ``text``."""
    return _HAS_WORD.search(text) is not None


def words(text: str) -> list[tuple[int, int]]:
    """Return where the words and signs of ``text`` stand, white space left out."""
    return [token.span() for token in _TOKEN.finditer(text)]


def changes(before: str, after: str) -> list[Change]:
    """Align two texts word by word and return what differs, in order; white space alone is no difference.

    Takes time and memory in proportion to the product of their lengths: meant for what one request holds.
    """
    old, new = words(before), words(after)
    found: list[Change] = []
    open_: list[tuple[int, int, int, int]] = []
    for step in Indel.opcodes(_spelled(before, old), _spelled(after, new)):
        if step.tag == "equal":
            found += _joined(before, after, old, new, open_)
            open_ = []
        else:
            open_.append((step.src_start, step.src_end, step.dest_start, step.dest_end))
    return found + _joined(before, after, old, new, open_)


def _spelled(text: str, spans: Sequence[tuple[int, int]]) -> list[str]:
    return [text[start:stop] for start, stop in spans]


def _joined(
    before: str,
    after: str,
    old: Sequence[tuple[int, int]],
    new: Sequence[tuple[int, int]],
    steps: Sequence[tuple[int, int, int, int]],
) -> list[Change]:
    """Make one change of neighbouring deletions and insertions."""
    if not steps:
        return []
    start, stop = _stretch(old, steps[0][0], steps[-1][1])
    written = slice(*_stretch(new, steps[0][2], steps[-1][3]))
    return [Change(start, stop, before[start:stop], after[written])]


def _stretch(spans: Sequence[tuple[int, int]], first: int, end: int) -> tuple[int, int]:
    if first < end:
        return spans[first][0], spans[end - 1][1]
    place = spans[first - 1][1] if first else 0
    return place, place
