"""Where the attributes of a record stand in its text, cut so that a page and a terminal can colour them.

Attributes overlap (a full name and its first name), touch and repeat, so a text is cut at every edge of a span: inside
one ``Segment`` the same attributes hold from its first character to its last.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of text under one set of attributes.

    Attributes:
        text: the characters; all segments joined are the record's text.
        attributes: positions of the attributes that cover it, the longest span first; empty for plain text.
        opens: no attribute reaches over its left edge, so that a run of marked text begins here.
        closes: no attribute reaches over its right edge.
        run: positions of all attributes of the run, in order of appearance; only where ``closes``.
    """

    text: str
    attributes: tuple[int, ...] = ()
    opens: bool = False
    closes: bool = False
    run: tuple[int, ...] = ()


def segments(text: str, spans: Sequence[Sequence[Span]]) -> list[Segment]:
    """Cut ``text`` at the edges of ``spans``.

    Args:
        text: the record's text.
        spans: for each attribute, the half-open stretches it occupies, in code points; empty ones mark nothing.

    Raises:
        ValueError: a span does not lie in the text.
    """
    placed = [(*span, position) for position, of_one in enumerate(spans) for span in of_one if span[0] != span[1]]
    for start, end, position in placed:
        if not 0 <= start < end <= len(text):
            raise ValueError(f"attribute {position}: span [{start}, {end}) in a text of {len(text)} code points")
    placed.sort(key=lambda mark: (mark[0] - mark[1], mark[2]))  # longest first
    edges = sorted({0, len(text), *(mark[0] for mark in placed), *(mark[1] for mark in placed)})
    cut: list[Segment] = []
    run: dict[int, None] = {}
    for start, end in pairwise(edges):
        covering = [mark for mark in placed if mark[0] <= start and end <= mark[1]]
        run |= dict.fromkeys(mark[2] for mark in covering)
        closes = bool(covering) and all(mark[1] == end for mark in covering)
        cut.append(
            Segment(
                text[start:end],
                tuple(dict.fromkeys(mark[2] for mark in covering)),
                opens=bool(covering) and all(mark[0] == start for mark in covering),
                closes=closes,
                run=tuple(run) if closes else (),
            )
        )
        if closes:
            run.clear()
    return cut


_INVISIBLE = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ufeff\ufff9-\ufffb]")


def visible(text: str) -> str:
    """Show control characters by name, so that a text can steer neither a terminal nor the reading direction.

    Tabs and line ends stay. Escape, lone carriage returns and bidirectional overrides become the like of ``⟨U+001B⟩``.
    """
    return _INVISIBLE.sub(lambda match: f"⟨U+{ord(match[0]):04X}⟩", text.replace("\r\n", "\n"))
