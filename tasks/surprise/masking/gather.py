"""Rows that come in the pieces in which documents are masked, put back into the shards in which they are written."""

from collections.abc import Iterator, Mapping

import numpy as np
import pyarrow as pa

Bounds = tuple[int, int]  # of a shard: its first row of the input, and one past its last


class Gathering:
    """Holds rows until their shard is whole: of documents without groups one piece at most, of scattered groups more.

    Args:
        rows: of each shard that is wanted, how many it has; rows of other shards are dropped.
    """

    def __init__(self, rows: Mapping[Bounds, int]) -> None:
        self._missing = dict(rows)
        self._held: dict[Bounds, list[pa.Table]] = {bounds: [] for bounds in rows}

    def add(self, table: pa.Table) -> Iterator[tuple[Bounds, pa.Table]]:
        """Take in a piece, and yield the shards that are whole with it, or were without any row.

        Args:
            table: with a column ``index`` that rises; also one without rows.

        Raises:
            ValueError: a shard gets more rows than it has.
        """
        index = np.asarray(table["index"].to_numpy(), dtype=np.int64)
        for bounds in list(self._missing):
            first, stop = np.searchsorted(index, bounds).tolist()
            if stop > first or not self._held[bounds]:  # one without rows has the columns, too
                self._held[bounds].append(table.slice(first, stop - first))
            self._missing[bounds] -= stop - first
            if self._missing[bounds] < 0:
                raise ValueError(f"rows [{bounds[0]}, {bounds[1]}): {-self._missing[bounds]} more than were scored")
            if self._missing[bounds] == 0:
                del self._missing[bounds]
                yield bounds, pa.concat_tables(self._held.pop(bounds)).sort_by("index")
