"""Rows as they lie in a file, before anybody has looked at what they say; and what can be wrong with them."""

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from tasks.surprise.reading.columns import Columns


class InputUnfit(ValueError):
    """The input as a whole cannot be scored: missing, damaged, or ids that repeat; the message says where."""


class BadRow(Exception):
    """One row cannot be scored; it is kept among the rejects.

    Attributes:
        reason: a short name, to count by.
        detail: one sentence for a person, without any text of the row.
    """

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


@dataclass(frozen=True, slots=True)
class RawRow:
    """One row of the input.

    Attributes:
        name: stable and unique in the input: file and row; the document's id where none is given.
        place: the same for a person.
        content: bytes, values with text as bytes, or what is wrong.
    """

    name: str
    place: str
    content: bytes | dict[str, Any] | BadRow


class Slice(Protocol):
    """Consecutive rows of one part of the input: small, picklable, and enough to read them on another machine."""

    @property
    def columns(self) -> Columns:
        """What its columns mean."""
        ...

    def read(self) -> list[RawRow]:
        """Read the rows.

        Raises:
            InputUnfit: the file is gone or damaged.
        """
        ...

    def values(self, content: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values of a row by column.

        Raises:
            BadRow: it has none that can be used.
        """
        ...


class Part(Protocol):
    """One part of the input: a file of rows, or files that are a row each."""

    @property
    def rows(self) -> int:
        """How many rows it has."""
        ...

    def slice(self, start: int, stop: int) -> Slice:
        """Say where the rows ``start`` to ``stop`` (not included) are."""
        ...

    def names(self) -> Iterator[Collection[str]]:
        """Yield the names of columns that a row has, row by row; once where all rows have the same.

        Raises:
            InputUnfit: the file is gone or damaged.
        """
        ...


def digest(rows: Iterable[RawRow]) -> str:
    """Return the SHA-256 of names and contents of rows, however the file that holds them is laid out."""
    sha = hashlib.sha256()
    for row in rows:
        content = row.content
        _feed(sha, row.name)
        _feed(sha, {"": content.reason} if isinstance(content, BadRow) else content)
    return sha.hexdigest()


def _feed(sha: "hashlib._Hash", value: object) -> None:
    """Hash a value so that other values give other bytes: each with its kind and length before it."""
    match value:
        case bytes():
            sha.update(b"b%d:" % len(value))
            sha.update(value)
        case str():
            _feed(sha, value.encode("utf-8", "surrogatepass"))
        case dict():
            sha.update(b"d%d:" % len(value))
            for key, item in value.items():
                _feed(sha, key)
                _feed(sha, item)
        case list():
            sha.update(b"l%d:" % len(value))
            for item in value:
                _feed(sha, item)
        case _:
            told = repr(value).encode()
            sha.update(b"r%d:" % len(told))
            sha.update(told)
