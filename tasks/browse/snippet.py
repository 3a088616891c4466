"""A line of a text for a list: its beginning, or what is around the words that were looked for."""

from collections.abc import Sequence
from dataclasses import dataclass

import regex

LENGTH = 200  # characters
BEFORE = 50  # of them, before the first hit


@dataclass(frozen=True, slots=True)
class Stretch:
    """A piece of a snippet; ``hit`` where it is what was looked for."""

    text: str
    hit: bool = False


def snippet(text: str, words: Sequence[str]) -> list[Stretch]:
    """Cut one line out of ``text``, around the first of ``words`` in it, each of them marked.

    Letters are compared without case, words as a whole or by their beginning; an accent makes another letter here,
    so that a text which was found without its accents may have no mark.
    """
    hits = _pattern(words)
    first = hits.search(text) if hits else None
    start = max(0, first.start() - BEFORE) if first else 0
    if start:  # not in the middle of a word
        start = next((place for place in range(start, first.start()) if text[place].isspace()), start) if first else 0
    stop = min(len(text), start + LENGTH)
    line = regex.sub(r"\s+", " ", text[start:stop]).strip()
    parts = list(_marked(line, hits))
    return [
        *([Stretch("… ")] if start else []),
        *parts,
        *([Stretch(" …")] if stop < len(text) else []),
    ]


def _pattern(words: Sequence[str]) -> regex.Pattern[str] | None:
    wanted = [r"\s+".join(map(regex.escape, word.split())) for word in words if word.strip()]
    if not wanted:
        return None
    return regex.compile(rf"(?<!\w)(?:{'|'.join(wanted)})|(?:{'|'.join(wanted)})(?!\w)", regex.IGNORECASE)


def _marked(line: str, hits: regex.Pattern[str] | None) -> list[Stretch]:
    if hits is None:
        return [Stretch(line)]
    parts, end = [], 0
    for found in hits.finditer(line):
        parts += [Stretch(line[end : found.start()]), Stretch(found[0], hit=True)]
        end = found.end()
    return [part for part in (*parts, Stretch(line[end:])) if part.text]
