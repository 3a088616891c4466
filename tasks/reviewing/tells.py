"""What gives a source away without reading: lengths, Markdown, lines broken at a fixed width. Told with every sheet."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

_MARKDOWN = re.compile(r"^#{1,6} |\*\*[^*\n]+\*\*|^\|.*\|[ \t]*$", re.MULTILINE)
_WRAPPED_LINES = 4  # so many lines, all of them short, and most of them nearly full
_NARROW, _NEARLY_FULL = 80, 55  # characters of a line


@dataclass(frozen=True, slots=True)
class Length:
    """Words a text: of all candidates of a source, or of those that were drawn."""

    of: str
    texts: int
    least: int
    p25: int
    median: int
    p75: int
    most: int

    @classmethod
    def counted(cls, of: str, lengths: Mapping[int, int]) -> "Length":
        """Return the distribution of lengths (words -> texts), which are not empty."""
        least, p25, median, p75, most = (_quantile(lengths, share) for share in (0.0, 0.25, 0.5, 0.75, 1.0))
        return cls(of=of, texts=sum(lengths.values()), least=least, p25=p25, median=median, p75=p75, most=most)


@dataclass(frozen=True, slots=True)
class Tell:
    """A mark that one source may have more often than the other; shares of texts."""

    name: str
    synthetic: float
    human: float


def tells(synthetic: Sequence[str], human: Sequence[str]) -> tuple[Tell, ...]:
    """Count the marks in the texts of both sources, neither of which is empty."""
    return tuple(
        Tell(name=name, synthetic=_share(has, synthetic), human=_share(has, human)) for name, has in _MARKS.items()
    )


def has_markdown(text: str) -> bool:
    """Tell whether ``text`` holds headings, bold or tables of Markdown."""
    return _MARKDOWN.search(text) is not None


def is_wrapped(text: str) -> bool:
    """Tell whether the lines of ``text`` are broken at a fixed width, as in old mail."""
    lines = [line for line in text.split("\n") if line.strip()]
    full = sum(len(line) >= _NEARLY_FULL for line in lines)
    return len(lines) >= _WRAPPED_LINES and max(map(len, lines)) <= _NARROW and 2 * full > len(lines)


def _quantile(lengths: Mapping[int, int], share: float) -> int:
    """Return the least length that ``share`` of the texts do not exceed."""
    wanted, seen = share * sum(lengths.values()), 0
    for words in sorted(lengths):
        seen += lengths[words]
        if seen >= wanted:
            return words
    raise ValueError("no lengths")


def _share(has: Callable[[str], bool], texts: Sequence[str]) -> float:
    return sum(map(has, texts)) / len(texts)


_MARKS: dict[str, Callable[[str], bool]] = {"Markdown": has_markdown, "lines of a fixed width": is_wrapped}
