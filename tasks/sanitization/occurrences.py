"""Where values stand in a text that is cut into chunks, be it letter by letter or in another case, space or form."""

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from tasks.synthesis.grounding import Folded

Match = Literal["value", "exact", "folded", "fuzzy"]


@dataclass(frozen=True, slots=True)
class Found:
    """A stretch of a chunk that tells a target.

    Attributes:
        start, stop: half-open, in code points of the chunk as it was then.
        text: what stands there.
        match: ``value``: an occurrence of an attribute's value. Else it was copied by a model, and stands in the chunk
            as copied (``exact``), in another case, white space or Unicode form (``folded``), or only alike (``fuzzy``).
    """

    start: int
    stop: int
    text: str
    match: Match


def values_in_chunks(texts: Sequence[str], values: Iterable[str]) -> dict[int, list[Found]]:
    """Find every occurrence of ``values`` in the chunks ``texts``; one that runs over several has a part in each.

    Returns:
        The places by the index of their chunk, in order; chunks without any are left out.
    """
    starts = [0, *accumulate(map(len, texts))]
    folded = Folded("".join(texts))
    found: dict[int, set[tuple[int, int]]] = {}
    for start, stop in (span for value in values for span in folded.find(value)):
        for index, part in _parts(starts, start, stop):
            if texts[index][slice(*part)].strip():
                found.setdefault(index, set()).add(part)
    return {
        index: [Found(start, stop, texts[index][start:stop], "value") for start, stop in sorted(found[index])]
        for index in sorted(found)
    }


def _parts(starts: Sequence[int], start: int, stop: int) -> Iterator[tuple[int, tuple[int, int]]]:
    index = bisect_right(starts, start) - 1
    while index < len(starts) - 1 and starts[index] < stop:
        yield index, (max(start, starts[index]) - starts[index], min(stop, starts[index + 1]) - starts[index])
        index += 1


@dataclass(frozen=True, slots=True)
class Leak:
    """A value that still stands in a text.

    Attributes:
        exact: letter by letter; else in another case, white space or Unicode form.
    """

    key: str
    value: str
    exact: bool


def leaks(text: str, facts: Iterable[tuple[str, str]]) -> list[Leak]:
    """Return the facts (key, value) whose value stands in ``text``: direct leaks (PV section 4.2), and folded ones."""
    folded, found = Folded(text), list[Leak]()
    for key, value in facts:
        if places := folded.find(value):
            found.append(Leak(key, value, any(text[start:stop] == value for start, stop in places)))
    return found
