"""Cutting a text into lines, sentences or delimited segments: every character is in exactly one piece."""

import re
import tomllib
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path

from tasks.surprise.spans import Spans

Cut = Callable[[str], list[int]]  # from a text to the places inside it where one piece ends and the next begins

# Only what source code calls a line end: ``str.splitlines`` also cuts at form feeds and U+2028.
_LINE_END = re.compile(r"\r\n|\r|\n")

# Each run is tried once, from its beginning, and never again in part: a million dots or blanks take linear time.
_SENTENCE_END = re.compile(
    r"""
    (?P<mark>(?<![.!?…])[.!?…]++) ["'”’»)\]]*+ (?=\s)\s*  # a mark, what it closes, and the white space behind
    | [。！？]+ [”’」』）]* \s*                              # written without a space behind
    | (?<![^\S\r\n])[^\S\r\n]*+ [\r\n] \s*              # a line end: forms, lists and transcripts have no marks
    """,
    re.VERBOSE,
)
_WORD_BEFORE = re.compile(r"[^\s(\[\"'“‘]+$")
_LISTS = tomllib.loads((Path(__file__).parent / "abbreviations.toml").read_text(encoding="utf-8"))
_ABBREVIATIONS: frozenset[str] = frozenset(_LISTS["always"])
_BEFORE_NUMBERS: frozenset[str] = frozenset(_LISTS["before_numbers"])
_LONGEST = 1 + max(map(len, _ABBREVIATIONS | _BEFORE_NUMBERS))


def tile(texts: Sequence[str], cut: Cut) -> Spans:
    """Cut every text; the pieces of a row cover its text from 0 to its end, none is empty."""
    rows = []
    for text in texts:
        bounds = [0, *cut(text), len(text)] if text else [0]
        rows.append(list(pairwise(bounds)))
    return Spans.of(rows)


def lines(text: str) -> list[int]:
    """Cut after each LF, CRLF or lone CR, which belongs to the line it ends; a blank line is a piece of its own."""
    return [match.end() for match in _LINE_END.finditer(text) if match.end() < len(text)]


def sentences(text: str) -> list[int]:
    """Cut after sentence marks and line ends; white space belongs to the sentence before it.

    A full stop after an initial or a common English abbreviation does not end a sentence, nor does a mark before a
    small letter.
    """
    return [
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if match.start() > 0 and match.end() < len(text) and not _goes_on(text, match)
    ]


def _goes_on(text: str, match: re.Match[str]) -> bool:
    mark = match["mark"]
    if mark is None or re.search(r"[\r\n]", match.group()):
        return False
    if text[match.end()].islower():
        return True
    before = _WORD_BEFORE.search(text, max(0, match.start() - _LONGEST), match.start())
    if mark != "." or before is None:
        return False
    word = before.group()
    if word.lower() in _BEFORE_NUMBERS:
        return text[match.end()].isdigit()
    return word.lower() in _ABBREVIATIONS or (len(word) == 1 and word.isupper())


def delimited(delimiters: str) -> Cut:
    """Make a cut after each run of any of these characters, with the white space behind it.

    Raises:
        ValueError: no delimiter is given.
    """
    if not delimiters:
        raise ValueError("segments need at least one delimiter, such as '.,;:!?'")
    end = re.compile(f"[{re.escape(delimiters)}]+\\s*")
    return lambda text: [match.end() for match in end.finditer(text) if match.end() < len(text)]
