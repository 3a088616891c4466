"""What is scored, masked and evaluated: texts and chats, with their labels where there are any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

PATH = "path"  # the stratum that holds a document's file name, by which scanners of secrets choose their rules


@dataclass(frozen=True, slots=True)
class Interval:
    """Half-open interval of a text, in code points."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"interval [{self.start}, {self.end}): give 0 <= start < end, in code points")


@dataclass(frozen=True, slots=True)
class Label(Interval):
    """A private span, and of which category it is."""

    category: str = "private"


@dataclass(frozen=True, slots=True)
class Region(Interval):
    """A named part of a text: a field of a document, or a response of a chat; windows of that kind use them."""

    name: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """One text.

    Attributes:
        id: unique in its data set.
        text: as scored; of a chat, as its template renders it.
        group: identity or user within which duplicates propagate; None for none.
        supervised: where tokens may be masked and count; None for everywhere.
        labels: private spans, may overlap; empty where there are none or nobody looked (``labelled``).
        labelled: somebody looked: no label means nothing private.
        regions: fields or responses.
        strata: what results are broken down by, and what transfer goes across: repository, language, ...
    """

    id: str
    text: str
    group: str | None = None
    supervised: tuple[Interval, ...] | None = None
    labels: tuple[Label, ...] = ()
    labelled: bool = False
    regions: tuple[Region, ...] = ()
    strata: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for interval in (*(self.supervised or ()), *self.labels, *self.regions):
            if interval.end > len(self.text):
                raise ValueError(f"document {self.id!r}: {interval} ends after the text of {len(self.text)} characters")


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a chat; labels count from the start of ``content``."""

    role: Literal["system", "user", "assistant", "tool"]
    content: str
    labels: tuple[Label, ...] = ()


@dataclass(frozen=True, slots=True)
class Chat:
    """One conversation, not rendered yet: the reference model's template decides its text (``Document``)."""

    id: str
    turns: Sequence[Turn]
    group: str | None = None
    labelled: bool = False
    strata: Mapping[str, str] = field(default_factory=dict)
