"""The whole input as numbered rows: which rows a shard reads, what their content is, and whether ids repeat."""

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import accumulate, islice

import numpy as np

from tasks.surprise.documents import Chat, Document
from tasks.surprise.reading.documents import document_of, id_of
from tasks.surprise.reading.raw import BadRow, InputUnfit, Part, RawRow, Slice, digest

_AT_ONCE = 4096  # rows
_LISTED = 30  # columns: rows of JSON may have thousands of names


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that is not scored, and why."""

    document_id: str
    place: str
    reason: str
    detail: str


class Input:
    """All rows of the input, numbered through from 0; their text is read shard by shard.

    Attributes:
        rows: how many there are.
    """

    def __init__(self, parts: Sequence[Part]) -> None:
        """Put parts one behind the other.

        Raises:
            InputUnfit: there is not one row.
        """
        self._parts = list(parts)
        self._offsets = [0, *accumulate(part.rows for part in self._parts)]
        self.rows = self._offsets[-1]
        if not self.rows:
            raise InputUnfit("the input has no rows: every file that was named is empty: name one that holds texts")

    def slices(self, start: int, stop: int) -> tuple[Slice, ...]:
        """Say where the rows ``start`` to ``stop`` (not included, clipped to what there is) are."""
        found = []
        stop = min(stop, self.rows)
        while start < stop:
            place = bisect_right(self._offsets, start) - 1
            first, end = self._offsets[place], min(stop, self._offsets[place + 1])
            found.append(self._parts[place].slice(start - first, end - first))
            start = end
        return tuple(found)

    def check_columns(self, wanted: Collection[str]) -> None:
        """Make sure that each column is in some row. Reads until it has seen all of them.

        A misspelled column of labels would make every document one that nobody looked at, and one of groups or of what
        is supervised would change masks: neither may happen in silence.

        Raises:
            InputUnfit: no row has one of them; it names that, and those that there are.
        """
        missing, there = set(wanted), dict[str, None]()
        for names in (each for part in self._parts for each in part.names()):
            missing.difference_update(names)
            if not missing:
                return
            there.update(dict.fromkeys(names))
        if there:  # else not one row can be read, and the rejects say why
            listed = ", ".join(islice(there, _LISTED)) + (", ..." if len(there) > _LISTED else "")
            raise InputUnfit(
                f"no row has the column {', '.join(map(repr, sorted(missing)))}; there are {listed}: say which is which"
                " with --text-column or --messages-column, --id-column, --group-column, --labels-column, --stratum"
            )

    def check_ids(self) -> None:
        """Make sure that no two rows have one id. Reads everything, and keeps 8 bytes of each row.

        Raises:
            InputUnfit: two have; it names both.
        """
        if all(part.slice(0, 0).columns.id is None for part in self._parts):
            return  # derived ids differ as the files and the rows in them do
        hashes = np.fromiter((_hash(chosen) for _, chosen in self._ids()), np.uint64, self.rows)
        values, counts = np.unique(hashes, return_counts=True)
        suspects = set(values[counts > 1].tolist())
        if not suspects:
            return
        places: dict[str, str] = {}
        for row, chosen in self._ids():
            if _hash(chosen) not in suspects:
                continue
            if chosen in places:
                raise InputUnfit(
                    f"id {chosen!r} stands twice: {places[chosen]}, and {row.place}. Ids tell documents apart: make"
                    " them differ, or leave out --id-column and they are derived from file and row"
                )
            places[chosen] = row.place

    def _ids(self) -> Iterator[tuple[RawRow, str]]:
        for start in range(0, self.rows, _AT_ONCE):
            for source in self.slices(start, start + _AT_ONCE):
                for row in source.read():
                    yield row, id_of(row, source)


def _hash(chosen: str) -> int:
    return int.from_bytes(blake2b(chosen.encode("utf-8"), digest_size=8).digest(), "little")


@dataclass(frozen=True, slots=True)
class Rows:
    """What the slices of a shard hold.

    Attributes:
        sha256: of their content, read at the same time.
        items: a document, a chat or a reject for each row, in order.
        places: of each row, for a person.
    """

    sha256: str
    items: tuple[Document | Chat | Reject, ...]
    places: tuple[str, ...]


def read(slices: Sequence[Slice]) -> Rows:
    """Read the rows of a shard.

    Raises:
        InputUnfit: a file is gone or damaged.
    """
    found = [(row, source) for source in slices for row in source.read()]
    return Rows(
        digest(row for row, _ in found),
        tuple(_item(row, source) for row, source in found),
        tuple(row.place for row, _ in found),
    )


def content_hash(slices: Sequence[Slice]) -> str:
    """Return the ``sha256`` that ``read`` would give, without looking at what the rows say.

    Raises:
        InputUnfit: a file is gone or damaged.
    """
    return digest(row for source in slices for row in source.read())


def _item(row: RawRow, source: Slice) -> Document | Chat | Reject:
    try:
        return document_of(row, source)
    except BadRow as bad:
        return Reject(id_of(row, source), row.place, bad.reason, bad.detail)
