"""Tables as Parquet files whose bytes depend on the rows alone."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from infra.shards.checks import check_schema
from infra.shards.location import Location, ObjectPath
from infra.shards.ranged import RangedObject

SUFFIX = ".parquet"


class TableDamaged(Exception):
    """A committed data file is gone or cannot be read; the message says how to get it back."""


ROW_GROUP_ROWS = 4096  # at some 10 KB a row, 40 MB: enough to read well, not too much to hold


def encode(table: pa.Table) -> memoryview:
    """Return ``table`` as a Parquet file: zstd, and the same bytes for the same rows however they lie in memory."""
    sink = pa.BufferOutputStream()
    pq.write_table(table.combine_chunks(), sink, compression="zstd", row_group_size=ROW_GROUP_ROWS)
    return memoryview(sink.getvalue())


def read(path: Location, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows at ``path``, all or some columns.

    Raises:
        TableDamaged: it is not there, or is no whole Parquet file.
        SchemaMismatch: it is not as ``schema`` says.
    """
    try:
        source = source_of(path)
    except FileNotFoundError as error:
        raise damaged(path, "is gone") from error
    return _read(source, path, schema, columns)


def decode(data: bytes, path: Location, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """Return the rows of a Parquet file that was read from ``path``; errors as of ``read``."""
    return _read(pa.BufferReader(data), path, schema, columns)


def source_of(path: Location) -> Path | RangedObject:
    """Return what ``pyarrow.parquet.ParquetFile`` opens to read from ``path``; of an object, only what is asked for.

    Raises:
        FileNotFoundError: there is no such object.
    """
    return RangedObject(path) if isinstance(path, ObjectPath) else path


def _read(
    source: Path | RangedObject | pa.BufferReader, path: Location, schema: pa.Schema, columns: Sequence[str] | None
) -> pa.Table:
    names = schema.names if columns is None else list(columns)
    try:
        with pq.ParquetFile(source) as file:
            check_schema(file.schema_arrow, schema, str(path), stored=True)
            # Arrow's threads may let go of memory that is Python's while the interpreter ends, which would abort it.
            table = file.read(columns=names, use_threads=isinstance(source, Path))
    except FileNotFoundError as error:
        raise damaged(path, "is gone") from error
    except (pa.ArrowInvalid, OSError) as error:  # pyarrow has an OSError without a number for what it cannot decode
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise damaged(path, f"cannot be read ({error})") from error
    wanted = pa.schema([schema.field(name) for name in names], metadata=schema.metadata)
    return table.select(names).cast(wanted)  # gives list items back the names that Parquet has for itself


def damaged(path: Location, fault: str) -> TableDamaged:
    """Say what is wrong with a data file, and how to get it back."""
    return TableDamaged(
        f"{path} {fault}: let `privasis shards repair --yes` set aside what is left of it, and run its stage again;"
        " paid answers come from its journal"
    )
