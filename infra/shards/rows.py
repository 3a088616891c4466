"""Some rows of a table of shards, found by their number, without reading the rest.

A manifest says how many rows each shard has in each table, and every table has a column ``index`` that lies in the
shard's range: so a place in the whole table, or an index, leads to a file, and within it to a row group.
"""

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from infra.shards import parquet
from infra.shards.checks import check_schema
from infra.shards.entries import Entry
from infra.shards.layout import Layout

INDEX = "index"


@dataclass(frozen=True, slots=True)
class At:
    """Where a row is: its shard, and its place in that shard's file."""

    entry: Entry
    place: int


class ShardedRows:
    """The rows of one table as its manifest was at one moment."""

    def __init__(self, layout: Layout, table: str, schema: pa.Schema, entries: Sequence[Entry]) -> None:
        self.table = table
        self.schema = schema
        self._layout = layout
        self._entries = [entry for entry in entries if entry.rows(table)]
        self._starts = [0, *accumulate(entry.rows(table) for entry in self._entries)]

    def __len__(self) -> int:
        return self._starts[-1]

    def at(self, place: int) -> At:
        """Return where the row at ``place`` of the whole table is.

        Raises:
            IndexError: there are not so many rows.
        """
        if not 0 <= place < len(self):
            raise IndexError(f"{self.table}: row {place} of {len(self)}")
        number = bisect_right(self._starts, place) - 1
        return At(self._entries[number], place - self._starts[number])

    def place_of(self, where: At) -> int:
        """Return the place of a row in the whole table."""
        number = bisect_right(self._entries, where.entry.shard, key=lambda entry: entry.shard) - 1
        return self._starts[number] + where.place

    def find(self, index: int) -> At | None:
        """Return where the row of this index is, or None."""
        number = bisect_right(self._entries, index, key=lambda entry: entry.shard.start) - 1
        if number < 0 or index >= self._entries[number].shard.stop:
            return None
        entry = self._entries[number]
        with self._opened(entry) as file:
            place = pc.index(file.read(columns=[INDEX])[INDEX], pa.scalar(index, pa.int64())).as_py()
        return None if place < 0 else At(entry, place)

    def page(self, start: int, count: int, columns: Sequence[str]) -> list[dict[str, Any]]:
        """Return up to ``count`` rows from place ``start`` on, some columns of each."""
        stop = min(start + count, len(self))
        return self.read([self.at(place) for place in range(start, stop)], columns)

    def read(self, wanted: Sequence[At], columns: Sequence[str]) -> list[dict[str, Any]]:
        """Return rows in the order asked for, some columns of each; a row group is read once.

        Raises:
            TableDamaged, SchemaMismatch: a file is not what was committed.
        """
        by_shard: dict[str, list[int]] = {}
        entries = {each.entry.shard.name: each.entry for each in wanted}
        for each in wanted:
            by_shard.setdefault(each.entry.shard.name, []).append(each.place)
        found: dict[tuple[str, int], dict[str, Any]] = {}
        for name, places in by_shard.items():
            with self._opened(entries[name]) as file:
                for place, row in _rows(file, places, columns):
                    found[name, place] = row
        return [found[each.entry.shard.name, each.place] for each in wanted]

    def batches(self, entry: Entry, columns: Sequence[str], rows: int) -> Iterator[pa.Table]:
        """Yield some columns of all rows of a shard, at most ``rows`` at once."""
        with self._opened(entry) as file:
            for batch in file.iter_batches(batch_size=rows, columns=list(columns)):
                yield pa.Table.from_batches([batch])

    def _opened(self, entry: Entry) -> pq.ParquetFile:
        path = self._layout.data_file(self.table, entry.shard)
        try:
            file = pq.ParquetFile(parquet.source_of(path))
        except FileNotFoundError as error:
            raise parquet.damaged(path, "is gone") from error
        except (pa.ArrowInvalid, OSError) as error:
            raise parquet.damaged(path, f"cannot be read ({error})") from error
        check_schema(file.schema_arrow, self.schema, str(path), stored=True)
        if file.metadata.num_rows != entry.rows(self.table):
            raise parquet.damaged(path, f"has {file.metadata.num_rows} rows, {entry.rows(self.table)} were committed")
        return file


def _rows(file: pq.ParquetFile, places: Sequence[int], columns: Sequence[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    groups = [file.metadata.row_group(number).num_rows for number in range(file.num_row_groups)]
    starts = [0, *accumulate(groups)]
    by_group: dict[int, list[int]] = {}
    for place in places:
        by_group.setdefault(bisect_right(starts, place) - 1, []).append(place)
    for group, inside in by_group.items():
        table = file.read_row_group(group, columns=list(columns), use_threads=False)  # see parquet._read
        taken = table.take(pa.array([place - starts[group] for place in inside], pa.int64()))
        yield from zip(inside, taken.to_pylist(), strict=True)
