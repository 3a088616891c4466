"""What became of each chunk, stretch by stretch and by target, so that a page and a terminal can colour it.

A row of ``TRIPLETS`` holds a chunk's text before, after each edit, and at the end. The words of neighbouring versions
are aligned; what is lost on the way, and what is written instead, belongs to the target whose edit it was.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any

import regex
from rapidfuzz.distance import Indel

from tasks.synthesis.grounding import Folded

_TOKEN = regex.compile(r"[\w\p{M}'’]+\s*|[^\w\s]\s*|\s+")


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is shown in one way.

    Attributes:
        text: its characters; empty on the right where something was taken out.
        target: the place of the target that took it away, or wrote it; None for what was left alone.
        kept: it tells what the request asks to keep.
    """

    text: str
    target: int | None = None
    kept: bool = False


@dataclass(frozen=True, slots=True)
class Change:
    """One chunk, before and after; the texts of the pieces joined are the two texts."""

    before: tuple[Piece, ...]
    after: tuple[Piece, ...]


def changes(row: Mapping[str, Any]) -> list[Change]:
    """Return what became of each chunk of a row of ``TRIPLETS``."""
    kept = [each["value"] for each in row["retained"]]
    return [
        _change(row["text"][chunk["start"] : chunk["stop"]], list(_versions(row["targets"], number)), kept)
        for number, chunk in enumerate(row["chunks"])
    ]


def _versions(targets: Sequence[Mapping[str, Any]], chunk: int) -> Iterator[tuple[int, str]]:
    """Yield (target, text after its edit) of one chunk in the order of work: first passes before second ones."""
    for turn in range(max((len(target["passes"]) for target in targets), default=0)):
        for number, target in enumerate(targets):
            for work in target["passes"][turn : turn + 1]:
                yield from ((number, edit["after"]) for edit in work["edits"] if edit["chunk"] == chunk)


@dataclass(slots=True)
class _Letter:
    """A character of the current version: where it stood at first, or who wrote it."""

    character: str
    origin: int | None
    writer: int | None


def _change(text: str, versions: Sequence[tuple[int, str]], kept: Sequence[str]) -> Change:
    letters = [_Letter(character, place, None) for place, character in enumerate(text)]
    takers: dict[int, int] = {}  # where a lost character stood at first -> the target that it was lost for
    for target, after in versions:
        letters, lost = _edited(letters, after, target)
        takers |= dict.fromkeys(lost, target)
    after = "".join(letter.character for letter in letters)
    return Change(
        tuple(_pieces(text, [takers.get(place) for place in range(len(text))], kept, {})),
        tuple(_pieces(after, [letter.writer for letter in letters], kept, _gaps(text, letters, takers))),
    )


def _edited(letters: Sequence[_Letter], after: str, target: int) -> tuple[list[_Letter], list[int]]:
    """Return the letters of ``after``, and the first places of those that are gone.

    Words are compared without the white space behind them, so that a space that goes with one does not break another.
    """
    before = "".join(letter.character for letter in letters)
    old, new = list(_TOKEN.finditer(before)), list(_TOKEN.finditer(after))
    edited: list[_Letter] = []
    lost: list[int] = []

    def replace(start: int, stop: int, written: str) -> None:
        lost.extend(letter.origin for letter in letters[start:stop] if letter.origin is not None)
        edited.extend(_Letter(character, None, target) for character in written)

    for change in Indel.opcodes([token[0].rstrip() for token in old], [token[0].rstrip() for token in new]):
        was, now = old[change.src_start : change.src_end], new[change.dest_start : change.dest_end]
        if change.tag != "equal":
            start, stop = (was[0].start(), was[-1].end()) if was else (0, 0)
            replace(start, stop, "".join(token[0] for token in now))
            continue
        for token, other in zip(was, now, strict=True):
            same = token.end() if token[0] == other[0] else token.start() + len(token[0].rstrip())
            edited += letters[token.start() : same]
            replace(same, token.end(), other[0][same - token.start() :])
    return edited, lost


def _gaps(text: str, letters: Sequence[_Letter], takers: Mapping[int, int]) -> dict[int, int]:
    """Find where words were taken out and nothing written in their place: place among ``letters`` -> target."""
    gaps: dict[int, int] = {}
    reached, behind, was_written = 0, 0, False  # the first place of what comes next, and where that is among letters
    for place, letter in enumerate((*letters, _Letter("", len(text), None))):
        if letter.origin is None:
            was_written |= not letter.character.isspace()
            continue
        gone = text[reached : letter.origin]
        if gone.strip() and not was_written:
            while behind and letters[behind - 1].character == " ":  # a gap belongs to the word before it
                behind -= 1
            gaps[behind] = takers[reached + len(gone) - len(gone.lstrip())]
        reached, behind, was_written = letter.origin + 1, place + 1, False
    return gaps


def _pieces(text: str, targets: Sequence[int | None], kept: Sequence[str], gaps: Mapping[int, int]) -> Iterator[Piece]:
    """Cut ``text`` where the target or its being kept changes, and at gaps."""
    spoken_of = Folded(text)
    covered = {place for value in kept for span in spoken_of.find(value) for place in range(*span)}
    looks = [(target, target is None and place in covered) for place, target in enumerate(_trimmed(text, targets))]
    cuts = [place for place in range(1, len(text)) if looks[place] != looks[place - 1] or place in gaps]
    for start, stop in pairwise(sorted({0, *cuts, len(text)})):
        if start in gaps:
            yield Piece("", gaps[start])
        yield Piece(text[start:stop], *looks[start])
    if len(text) in gaps:
        yield Piece("", gaps[len(text)])


def _trimmed(text: str, targets: Sequence[int | None]) -> Iterator[int | None]:
    """Take the white space around it out of each stretch of one target."""
    for target, places in groupby(range(len(text)), key=lambda place: targets[place]):
        run = list(places)
        stretch = text[run[0] : run[-1] + 1]
        first, last = len(stretch) - len(stretch.lstrip()), len(stretch.rstrip())
        yield from (target if first <= count < last else None for count in range(len(run)))
