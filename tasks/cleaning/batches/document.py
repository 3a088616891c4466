"""Texts of a batch, what became of them, and what every kind of batch can do."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, Self

from tasks.cleaning.clean import Cleaned
from tasks.cleaning.failure import CleaningFailed

PART = 256  # texts in hand at once, and in one journal


class BatchUnusable(ValueError):
    """A batch cannot be read as it was described; the message says where."""


@dataclass(frozen=True, slots=True)
class Document:
    """One text of a batch.

    Attributes:
        name: unique in the batch: the number of its row, from 0, or its path within the folder.
        text: None where there is none; that is no failure.
        unusable: why it cannot be read.
    """

    name: str
    text: str | None
    unusable: CleaningFailed | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one: clean, failed, or (both None) there was nothing to clean."""

    document: Document
    cleaned: Cleaned | None = None
    failure: CleaningFailed | None = None

    @property
    def text(self) -> str | None:
        """What is passed on."""
        if self.failure is not None or self.document.text is None:
            return None
        return self.document.text if self.cleaned is None else self.cleaned.text


class Batch(Protocol):
    """Texts from one place to another. What is written appears at ``finish``, or not at all."""

    def parts(self) -> Iterator[Sequence[Document]]:
        """Yield up to ``PART`` documents at a time, in order; the same ones each time.

        Raises:
            BatchUnusable: the source is not what it should be.
        """
        ...

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """Take the outcomes of the last part, in order."""
        ...

    def finish(self) -> None:
        """Let the clean texts, and the table of rejects beside them, appear."""
        ...

    def __enter__(self) -> Self: ...

    def __exit__(self, *exc: object) -> None: ...


def rejects_beside(target: Path, suffix: str) -> Path:
    """Return where the rejects of ``target`` go: ``notes.parquet`` has ``notes.rejects.parquet``."""
    return target.with_name(f"{target.name.removesuffix(suffix)}.rejects{suffix or '.jsonl'}")


def hidden(target: Path) -> Path:
    """Return the name under which ``target`` is written before it appears."""
    return target.with_name(f".{target.name}.unfinished")
