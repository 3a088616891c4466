"""Which rows a person is shown: few, drawn by seed, and as different as there are kinds."""

from typing import Any

import polars as pl
import pyarrow as pa

from tasks.report.sample import lots


def pick(table: pa.Table, count: int, *, by: str, seed: int = 0) -> list[dict[str, Any]]:
    """Draw up to ``count`` rows, one of each value of column ``by`` before a second of any.

    Args:
        table: records or rejects; a shard of them is enough.
        count: how many rows.
        by: the column whose values are to vary, such as ``domain`` or ``reason``.
        seed: of the draw.
    """
    kinds = pl.DataFrame({"kind": table[by].to_pylist(), "lot": lots(seed, table["record_id"].to_pylist())})
    turn = pl.col("lot").rank("ordinal").over("kind")
    drawn = kinds.with_row_index("row").sort(turn, "lot").head(count)["row"]
    rows: list[dict[str, Any]] = table.take(pa.array(drawn, pa.int64())).to_pylist()
    return rows
