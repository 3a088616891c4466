"""Taking masked spans out of a text: replaced by a word for their kind, or removed (SM section 2.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.surprise.documents import Label

Redact = Literal["replace", "remove"]
UNKNOWN = "REDACTED"  # the kind of what no label explains


@dataclass(frozen=True, slots=True)
class Redaction:
    """What stood at [start, end) of the text, in code points, and what stands there now."""

    start: int
    end: int
    replacement: str


@dataclass(frozen=True, slots=True)
class Redacted:
    """A text without its masked spans."""

    text: str
    redactions: tuple[Redaction, ...]

    @property
    def removed(self) -> int:
        """Characters of the original that are gone."""
        return sum(each.end - each.start for each in self.redactions)


def redact(text: str, spans: Sequence[tuple[int, int]], labels: Sequence[Label], how: Redact) -> Redacted:
    """Redact disjoint spans in order.

    ``replace`` puts ``[PASSWORD]`` or the like in place of a span that shares a character with a label of that
    category, ``[REDACTED]`` where there is no label; white space at the ends of a span stays, so that words do not run
    together: tokens often begin with the space before them. ``remove`` takes out every character of the span.

    Raises:
        ValueError: spans overlap, fall, or leave the text.
    """
    pieces: list[str] = []
    redactions: list[Redaction] = []
    done = reached = 0
    for start, end in spans:
        if not reached <= start < end <= len(text):
            raise ValueError(
                f"span [{start}, {end}) after {reached} of {len(text)} characters: spans are disjoint, in order"
            )
        reached = end
        first, last = (start, end) if how == "remove" else _trimmed(text, start, end)
        if first == last:  # nothing but white space: nothing to hide
            continue
        replacement = "" if how == "remove" else f"[{kind_of(first, last, labels)}]"
        pieces += [text[done:first], replacement]
        redactions.append(Redaction(first, last, replacement))
        done = last
    return Redacted("".join([*pieces, text[done:]]), tuple(redactions))


def kind_of(start: int, end: int, labels: Sequence[Label]) -> str:
    """Name the kind of a span: the category of the label that shares most characters with it, in capitals."""
    shared = [(min(end, label.end) - max(start, label.start), label.category) for label in labels]
    most, category = max(shared, default=(0, ""), key=lambda pair: pair[0])
    name = "_".join(category.upper().split())  # nothing, of a category of blanks in a file of labels
    return name if most > 0 and name else UNKNOWN


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return start, end
