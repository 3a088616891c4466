"""Finds where a value stands in a text, whatever its letter case, white space or Unicode form.

An attribute that is found is *grounded* (``privasis.md`` section 1).
"""

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

import regex

Span = tuple[int, int]

_INSIDE = -1
_SHORT = 2  # folded code points; "Al" and "5" are part of too many other words to be found anywhere

# Code points that NFKC may join to the one before: marks, and Hangul vowels and finals in all their forms. A run of
# them with the character they follow is folded as one piece; between pieces, folding is independent.
_JOINING = r"[\p{M}\u1161-\u1175\u11a8-\u11c2\u3133\u3135\u3136\u313a-\u313f\u314f-\u3163\uff9e\uff9f\uffa3-\uffdc]"

# Code points that fold to their own lower case, one to one: most of most texts, taken in long runs for speed.
PLAIN = (
    r"[\x00-\x7f\xc0-\xd6\xd8-\xde\xe0-\xf6\xf8-\xff\u0410-\u044f"  # ASCII, Latin-1 letters but ß, Cyrillic
    r"\u2013\u2014\u2018-\u201d\u3001-\u300f\u3041-\u3094\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3]"  # quotes, CJK
)

_PIECE = regex.compile(rf"({PLAIN}+(?!{_JOINING}))|.{_JOINING}*+", regex.DOTALL)
_WHITE = re.compile(r"\s\s+|[^\S ]")  # of re, whose white space is that of str.strip

# Written without spaces: a word's end cannot be seen there.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")


def fold(text: str) -> tuple[str, Sequence[int]]:
    """Fold a text by NFKC, then case, then runs of white space to one space.

    Returns:
        The folded text, and for each of its ``len + 1`` boundaries the offset in ``text``, in code points, or -1 where
        the boundary has none: inside what one character or one base with its marks became (``ß`` to ``ss``).
    """
    parts: list[str] = []
    boundaries: list[int] = []
    for piece in _PIECE.finditer(text):
        start, end = piece.span()
        if piece[1] is not None:
            parts.append(piece[1].lower())
            boundaries.extend(range(start, end))
        else:
            folded = _fold_piece(piece[0])
            parts.append(folded)
            boundaries.append(start)
            boundaries.extend([_INSIDE] * (len(folded) - 1))
    boundaries.append(len(text))
    return _fold_white_space("".join(parts), boundaries)


@lru_cache(maxsize=65_536)
def _fold_piece(piece: str) -> str:
    return unicodedata.normalize("NFKC", piece).casefold()


def _fold_white_space(text: str, boundaries: list[int]) -> tuple[str, list[int]]:
    """Make each run of white space one space, whose two boundaries are those of the run."""
    parts: list[str] = []
    kept: list[int] = []
    done = 0
    for run in _WHITE.finditer(text):
        start, end = run.span()
        parts += [text[done:start], " "]
        kept += boundaries[done : start + 1]
        done = end
    return "".join([*parts, text[done:]]), kept + boundaries[done:]


class Folded:
    """A text folded once, to look for many values in it."""

    __slots__ = ("_boundaries", "_folded")

    def __init__(self, text: str) -> None:
        """Fold ``text``; see ``fold``."""
        self._folded, self._boundaries = fold(text)

    def find(self, value: str) -> list[Span]:
        """Return each occurrence of ``value``, from left to right, none overlapping another.

        A value of one or two characters counts only as a word of its own.

        Returns:
            Half-open intervals of code points of the original text; each folds to what ``value`` folds to.

        Raises:
            ValueError: ``value`` is empty or white space, which would stand everywhere.
        """
        folded_value = _WHITE.sub(" ", _fold_piece(value)).strip(" ")
        if not folded_value:
            raise ValueError(f"{value!r} has nothing to look for: drop empty values before grounding")
        spans: list[Span] = []
        start = self._folded.find(folded_value)
        while start >= 0:
            end = start + len(folded_value)
            span = (self._boundaries[start], self._boundaries[end])
            found = _INSIDE not in span and (len(folded_value) > _SHORT or self._is_word(start, end))
            if found:
                spans.append(span)
            start = self._folded.find(folded_value, end if found else start + 1)
        return spans

    def _is_word(self, start: int, end: int) -> bool:
        folded = self._folded
        before, after = folded[max(0, start - 2) : start][::-1], folded[end : end + 2]
        alone = end - start == 1
        return not (_goes_on(folded[start], before, alone=alone) or _goes_on(folded[end - 1], after, alone=alone))


def find_spans(text: str, value: str) -> list[Span]:
    """Return each occurrence of one value; see ``Folded.find``."""
    return Folded(text).find(value)


def _goes_on(edge: str, beyond: str, *, alone: bool) -> bool:
    """Whether a word goes on from its character ``edge`` into the up to two characters ``beyond`` it."""
    if not beyond or not edge.isalnum():
        return False
    if beyond[0] in ".,":  # 3.5 and 5,000 are one number each
        return edge.isdigit() and beyond[1:].isdigit()
    if not (beyond[0].isalnum() or beyond[0] == "_"):
        return False
    unspaced = _UNSPACED.match(edge) is not None
    if unspaced != (_UNSPACED.match(beyond[0]) is not None):  # a change of script, as in "5" followed by Han
        return False
    return alone or not unspaced  # a name of two Han characters or Hangul syllables may touch others
