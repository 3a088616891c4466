"""Pages of a list: rows by their place where nothing is filtered, else as the index finds them."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from flows.browse.catalog import Catalog, NotThere, Stage
from flows.browse.kinds import Kind
from infra.search.builder import Builder, Progress, Source
from infra.search.index import MOST_COUNTED, Hit, Indexed, Query, SearchIndex, Value
from infra.shards.checks import SchemaMismatch
from infra.shards.parquet import TableDamaged
from infra.shards.rows import At, ShardedRows
from infra.shards.s3 import StorageRefused, StorageUnavailable

PAGE_ROWS = 50
SECONDS = 5.0  # a search may take
AT_ONCE = 1_000  # rows in memory while a shard is indexed
MOST_VALUES = 200  # of a facet to choose from
UNREADABLE = (TableDamaged, SchemaMismatch)


@dataclass(frozen=True, slots=True)
class Listed:
    """A page of a list.

    Attributes:
        rows: the columns of the table that the list shows.
        start: place of the first of them in all that was found.
        total: rows found; of more than ``MOST_COUNTED`` nobody knows.
        of: rows of the table.
        progress: of the index; None where none is needed.
    """

    rows: list[Mapping[str, Any]]
    start: int
    total: int
    of: int
    progress: Progress | None

    @property
    def more_than(self) -> bool:
        """Whether there are more than were counted."""
        return self.progress is not None and self.total > MOST_COUNTED

    @property
    def has_next(self) -> bool:
        """Whether there is a page behind this one."""
        return (self.more_than and len(self.rows) == PAGE_ROWS) or self.start + len(self.rows) < self.total

    @property
    def pages(self) -> int:
        """How many pages there are, of those that were counted."""
        return max(1, -(-min(self.total, self.of) // PAGE_ROWS))


@dataclass(frozen=True, slots=True)
class Found:
    """A row to be shown whole, and those beside it in the list it was found in: (index, place in the list)."""

    row: Mapping[str, Any]
    at: At
    before: tuple[int, int] | None
    behind: tuple[int, int] | None


class Lists:
    """Reads the lists of all tables. Threads share it."""

    def __init__(self, catalog: Catalog, cache: Path) -> None:
        """Keep indexes under ``cache``, a folder a root."""
        self.catalog = catalog
        self._cache = cache / hashlib.sha256(str(catalog.root).encode()).hexdigest()[:16]
        self._builder = Builder(UNREADABLE, (StorageRefused, StorageUnavailable))

    def close(self) -> None:
        """End what is under way in the background."""
        self._builder.close()

    def page(self, stage: Stage, kind: Kind, query: Query, number: int) -> Listed:
        """Return page ``number``, from 1.

        Raises:
            QueryUnusable, SearchTooLong: of the search.
            TableDamaged, SchemaMismatch: of a file.
        """
        rows, start = stage.rows(kind.table), (number - 1) * PAGE_ROWS
        progress = self.progress(stage, kind)
        if query.is_empty:
            return Listed(list(rows.page(start, PAGE_ROWS, kind.listed)), start, len(rows), len(rows), progress)
        with closing(self._index(stage, kind)) as index:
            hits = index.find(query, start, PAGE_ROWS, seconds=SECONDS)
            ends_here = len(hits) < PAGE_ROWS and (hits or not start)
            total = start + len(hits) if ends_here else index.count(query, seconds=SECONDS)
        found = rows.read(_places(stage, hits), kind.listed)
        there = {hit.index for hit in hits}  # a shard may have been made again since it was indexed
        return Listed([row for row in found if row["index"] in there], start, total, len(rows), progress)

    def row(self, stage: Stage, kind: Kind, index: int, query: Query, place: int | None) -> Found:
        """Return a row and its neighbours in the list of ``query``, where it has this place.

        Raises:
            NotThere: there is no such row.
            QueryUnusable, SearchTooLong, TableDamaged, SchemaMismatch: as of ``page``.
        """
        rows = stage.rows(kind.table)
        at = rows.find(index)
        if at is None:
            raise NotThere(f"There is no {kind.one} {index} in {stage.name.dataset}.")
        (row,) = rows.read([at], [name for name in rows.schema.names if name != "embedding"])
        if query.is_empty:
            beside = self._by_place(rows, rows.place_of(at))
        elif place is None:
            beside = (None, None)
        else:
            beside = self._by_query(stage, kind, query, place)
        return Found(row, at, *beside)

    def progress(self, stage: Stage, kind: Kind) -> Progress | None:
        """Have the index of a table brought up to date, and return how far it is; None where it has none."""
        return self._builder.want(self._source(stage, kind)) if kind.searchable else None

    def page_of(self, stage: Stage, kind: Kind, shard: str) -> int:
        """Return the page, of all rows, on which a shard begins.

        Raises:
            NotThere: it is not committed, or has no rows.
        """
        entry = stage.by_name.get(shard)
        if entry is None or not entry.rows(kind.table):
            raise NotThere(f"Shard {shard} of {kind.table} is not committed, or has no rows.")
        return stage.rows(kind.table).place_of(At(entry, 0)) // PAGE_ROWS + 1

    def index_of(self, stage: Stage, kind: Kind, row_id: str) -> int:
        """Return the number of the row with this id.

        Raises:
            NotThere: there is none, or it is not indexed yet.
        """
        progress = self.progress(stage, kind)
        if progress is not None:
            with closing(self._index(stage, kind)) as index:
                if (found := index.by_id(row_id)) is not None:
                    return found
        rest = "" if progress is None or progress.complete else " so far: the index is still being built"
        raise NotThere(f"There is no {kind.one} {row_id}{rest}.")

    def values(self, stage: Stage, kind: Kind) -> Mapping[str, list[Value]]:
        """Return what each facet can be filtered by, of what is indexed."""
        if not kind.searchable:
            return {}
        with closing(self._index(stage, kind)) as index:
            return {facet.name: index.values(facet.name, MOST_VALUES) for facet in kind.facets}

    def _by_place(self, rows: ShardedRows, place: int) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        def at(other: int) -> tuple[int, int] | None:
            if not 0 <= other < len(rows):
                return None
            try:
                (row,) = rows.page(other, 1, ["index"])
            except UNREADABLE:  # this page can be shown; the one that the link leads to says what is wrong
                where = rows.at(other)
                return where.entry.shard.start + where.place, other
            return row["index"], other

        return at(place - 1), at(place + 1)

    def _by_query(
        self, stage: Stage, kind: Kind, query: Query, place: int
    ) -> tuple[tuple[int, int] | None, tuple[int, int] | None]:
        first = max(0, place - 1)
        with closing(self._index(stage, kind)) as index:
            hits = index.find(query, first, 3 if place else 2, seconds=SECONDS)
        found = {first + number: (hit.index, first + number) for number, hit in enumerate(hits)}
        return found.get(place - 1), found.get(place + 1)

    def _index(self, stage: Stage, kind: Kind) -> SearchIndex:
        source = self._source(stage, kind)
        return SearchIndex(source.path, source.facets)

    def _source(self, stage: Stage, kind: Kind) -> Source:
        folder = self._cache / stage.name.dataset
        for each in (self._cache.parent, self._cache, folder):
            each.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = f"{stage.name.evaluation}.{kind.table}" if stage.name.evaluation else kind.table
        path = folder / f"{name}.sqlite"
        return Source(
            path, tuple(facet.name for facet in kind.facets), partial(_hashes, stage, kind), partial(_told, stage, kind)
        )


def _places(stage: Stage, hits: Iterable[Hit]) -> list[At]:
    return [At(entry, hit.place) for hit in hits if (entry := stage.by_name.get(hit.shard))]


def _hashes(stage: Stage, kind: Kind) -> dict[str, str]:
    """Return the hash of each shard's file that has rows."""
    entries = stage.entries.entries
    return {entry.shard.name: entry.files[kind.table].sha256 for entry in entries if entry.rows(kind.table)}


def _told(stage: Stage, kind: Kind, shard: str) -> Iterator[Indexed]:
    """Yield what the index is told of a shard."""
    place = 0
    for batch in stage.rows(kind.table).batches(stage.by_name[shard], kind.told, AT_ONCE):
        for row in batch.to_pylist():
            yield Indexed(
                index=row["index"],
                row_id=row[kind.id_column],
                place=place,
                size=kind.size(row),
                facets={facet.name: facet.value(row) for facet in kind.facets},
                text=kind.text(row),
                names=kind.names(row),
            )
            place += 1
