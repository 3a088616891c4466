"""What must hold of a shard's tables before they are written."""

from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc


class SchemaMismatch(Exception):
    """A table is not what its schema says; the message names place and column."""


class RowsMismatch(Exception):
    """Rows are missing, too many, or repeated."""


def check_schema(actual: pa.Schema, schema: pa.Schema, place: str, *, stored: bool = False) -> None:
    """Compare names, order, types, nullability, and unless ``stored``, metadata and the names of list items.

    Args:
        actual: what is there.
        schema: what should be there.
        place: where it is, for the message.
        stored: ``actual`` comes from a Parquet file, which has its own name for list items.

    Raises:
        SchemaMismatch: they differ.
    """
    if actual.equals(schema, check_metadata=not stored):
        return
    for name in [*schema.names, *actual.names]:
        found, expected = _columns(actual, name), _columns(schema, name)
        if not found.equals(expected, check_metadata=not stored):
            raise SchemaMismatch(f"{place}: {name}: found {_told(found)}, the schema says {_told(expected)}")
    if actual.names != schema.names:
        raise SchemaMismatch(f"{place}: columns in the order {actual.names}, the schema says {schema.names}")
    raise SchemaMismatch(f"{place}: metadata differ: use table.replace_schema_metadata(schema.metadata)")


def _columns(schema: pa.Schema, name: str) -> pa.Schema:
    """Return all columns called ``name``."""
    return pa.schema([schema.field(position) for position in schema.get_all_field_indices(name)])


def _told(columns: pa.Schema) -> str:
    types = [f"{field.type}{'' if field.nullable else ' not null'}" for field in columns]
    return ", ".join(types) or "no such column"


def check_nulls(table: pa.Table, place: str) -> None:
    """Make sure that columns declared without nulls have none (pyarrow builds such tables without a word).

    Raises:
        SchemaMismatch: a column has nulls against its declaration.
    """
    for field, column in zip(table.schema, table.columns, strict=True):
        if not field.nullable and column.null_count:
            row = pc.index(column.is_null(), True).as_py()
            raise SchemaMismatch(f"{place}: {field.name}: {column.null_count} nulls (first in row {row}), none allowed")


def check_rows(tables: Mapping[str, pa.Table], expected_rows: int, place: str) -> None:
    """Make sure that what went in came out, in one table or another.

    Raises:
        RowsMismatch: it did not.
    """
    rows = {name: table.num_rows for name, table in tables.items()}
    if sum(rows.values()) != expected_rows:
        told = " + ".join(f"{count} {name}" for name, count in rows.items())
        raise RowsMismatch(
            f"{place}: {expected_rows} rows in, {sum(rows.values())} out ({told}): none may vanish or double"
        )


def check_ids(tables: Mapping[str, pa.Table], id_column: str, place: str) -> None:
    """Make sure that every row has an id, and no two rows of all tables the same.

    Raises:
        RowsMismatch: ids are null or repeated.
    """
    chunks = [chunk for table in tables.values() for chunk in table[id_column].chunks]
    if not chunks:
        return
    counts = pc.value_counts(pa.chunked_array(chunks))
    repeated = counts.filter(pc.greater(counts.field("counts"), 1)).field("values")
    if len(repeated):
        raise RowsMismatch(f"{place}: {id_column}: {len(repeated)} ids occur more than once, such as {repeated[0]}")
    if nulls := sum(chunk.null_count for chunk in chunks):
        raise RowsMismatch(f"{place}: {id_column}: {nulls} rows have no id")
