"""A line of a text for a list: its beginning, or what is around the words that were looked for."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import regex

LENGTH = 200  # characters
BEFORE = 50  # of them, before the first hit
# Scripts that put no spaces between words, or particles at their end: what is looked for may stand inside a run.
_UNSPACED = regex.compile(r"[\p{Han}\p{Hiragana}\p{Katakana}\p{Hangul}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]")

_RUNS = regex.compile(r"[\x00-\x7f]+|[^\x00-\x7f]")


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a snippet; ``hit`` where it is what was looked for."""

    text: str
    hit: bool = False


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text as it is compared, and where each of its characters stands in the text, whose end comes last."""

    text: str
    places: Sequence[int]


def snippet(text: str, words: Sequence[str]) -> list[Stretch]:
    """Cut one line out of ``text``, around the first of ``words`` in it, each of them marked.

    Letters are compared as the index does it, without case, accents and width; words as a whole or by their beginning
    or end, where a script has words.
    """
    hits = _pattern(words)
    whole = _folded(text) if hits else None
    first = hits.search(whole.text) if hits and whole else None
    begins = whole.places[first.start()] if first and whole else 0
    start = max(0, begins - BEFORE)
    if start:  # not in the middle of a word
        start = next((place for place in range(start, begins) if text[place].isspace()), start)
    stop = min(len(text), start + LENGTH)
    line = regex.sub(r"\s+", " ", text[start:stop]).strip()
    parts = list(_marked(line, hits))
    return [
        *([Stretch("… ")] if start else []),
        *parts,
        *([Stretch(" …")] if stop < len(text) else []),
    ]


def _pattern(words: Sequence[str]) -> regex.Pattern[str] | None:
    wanted = [found for word in words if (found := _folded(word).text.split())]
    if not wanted:
        return None
    return regex.compile("|".join(map(_bounded, wanted)))


def _bounded(parts: Sequence[str]) -> str:
    """Look for a word or phrase that begins or ends where a word does; where its script has no words, anywhere."""
    phrase = r"\s+".join(map(regex.escape, parts))
    if _UNSPACED.match(parts[0]) or _UNSPACED.match(parts[-1][-1]):
        return phrase
    return rf"(?<!\w){phrase}|{phrase}(?!\w)"


def _marked(line: str, hits: regex.Pattern[str] | None) -> list[Stretch]:
    if hits is None:
        return [Stretch(line)]
    parts, end, folded = [], 0, _folded(line)
    for found in hits.finditer(folded.text):
        start, stop = folded.places[found.start()], folded.places[found.end()]
        parts += [Stretch(line[end:start]), Stretch(line[start:stop], hit=True)]
        end = stop
    return [part for part in (*parts, Stretch(line[end:])) if part.text]


def _folded(text: str) -> _Folded:
    if text.isascii():
        return _Folded(text.lower(), range(len(text) + 1))
    letters: list[str] = []
    places: list[int] = []
    for run in _RUNS.finditer(text):
        if run[0].isascii():
            letters.append(run[0].lower())
            places += range(run.start(), run.end())
        else:
            letters.append(bare := _bare(run[0]))
            places += [run.start()] * len(bare)
    return _Folded("".join(letters), [*places, len(text)])


@lru_cache(maxsize=8192)
def _bare(character: str) -> str:
    """Return a character without case, marks and width; a mark of its own becomes nothing, and goes with its letter."""
    apart = unicodedata.normalize("NFKD", character)
    kept = "".join(each for each in apart if unicodedata.category(each) != "Mn")
    return unicodedata.normalize("NFC", kept).casefold()
