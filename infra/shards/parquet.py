"""Tables as Parquet files whose bytes depend on the rows alone."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from infra.shards.checks import check_schema

SUFFIX = ".parquet"


class TableDamaged(Exception):
    """A committed data file is gone or cannot be read; the message says how to get it back."""


ROW_GROUP_ROWS = 4096  # at some 10 KB a row, 40 MB: enough to read well, not too much to hold


def encode(table: pa.Table) -> memoryview:
    """Return ``table`` as a Parquet file: zstd, and the same bytes for the same rows however they lie in memory."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd", row_group_size=ROW_GROUP_ROWS)
    return memoryview(sink.getvalue())


def read(path: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows at ``path``, all or some columns.

    Raises:
        TableDamaged: it is not there, or is no whole Parquet file.
        SchemaMismatch: it is not as ``schema`` says.
    """
    return _read(path, path, schema, columns)


def decode(data: bytes, path: Path, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows of a Parquet file that was read from ``path``; errors as of ``read``."""
    return _read(pa.BufferReader(data), path, schema, columns)


def _read(source: Path | pa.BufferReader, path: Path, schema: pa.Schema, columns: Sequence[str] | None) -> pa.Table:
    names = schema.names if columns is None else list(columns)
    try:
        with pq.ParquetFile(source) as file:
            check_schema(file.schema_arrow, schema, str(path), stored=True)
            table = file.read(columns=names)
    except FileNotFoundError as error:
        raise damaged(path, "is gone") from error
    except (pa.ArrowInvalid, OSError) as error:  # pyarrow has an OSError without a number for what it cannot decode
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise damaged(path, f"cannot be read ({error})") from error
    wanted = pa.schema([schema.field(name) for name in names], metadata=schema.metadata)
    return table.select(names).cast(wanted)  # gives list items back the names that Parquet has for itself


def damaged(path: Path, fault: str) -> TableDamaged:
    """Say what is wrong with a data file, and how to get it back."""
    return TableDamaged(
        f"{path} {fault}: delete what is left of it and run its stage again; paid answers come from its journal"
    )
