"""From what a line scanner reports, a line and a value, to character spans of the text."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

Span = tuple[int, int]  # half-open, in code points

_LINE_END = re.compile(r"\r\n|\r|\n")  # what both scanners, and Python's text files, end a line with


@dataclass(frozen=True)
class Lines:
    """A text with the places of its lines."""

    text: str
    bounds: Sequence[Span]  # of each line without its end

    @classmethod
    def of(cls, text: str) -> Self:
        """Find the lines; a text has one more than it has line ends."""
        ends = [(match.start(), match.end()) for match in _LINE_END.finditer(text)]
        starts = [0, *(after for _, after in ends)]
        stops = [*(before for before, _ in ends), len(text)]
        return cls(text, list(zip(starts, stops, strict=True)))

    def read(self) -> list[str]:
        """Give the lines without their ends."""
        return [self.text[start:stop] for start, stop in self.bounds]

    def places(self, line: int, value: str) -> list[Span]:
        """Find a reported value: every occurrence in its line (from 0), or if there is none in the whole text.

        A scanner that parses a format reports values unescaped or joined; one that stands nowhere as reported takes
        its whole line, so that a finding is never lost.
        """
        start, stop = self.bounds[line]
        if not value:
            return [(start, stop)]
        return (
            _occurrences(value, self.text, start, stop)
            or _occurrences(value, self.text, 0, len(self.text))
            or [(start, stop)]
        )


def _occurrences(value: str, text: str, start: int, stop: int) -> list[Span]:
    found = []
    at = text.find(value, start, stop)
    while at >= 0:
        found.append((at, at + len(value)))
        at = text.find(value, at + len(value), stop)
    return found
