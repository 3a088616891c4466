"""Clean texts made elsewhere, in a file: joined to records by their id alone, never by their place."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ID, TEXT = "record_id", "sanitized"
NAMED = 5  # ids that an error names


class OutputsUnusable(ValueError):
    """A file of outputs is not what it has to be; the message names the records."""


def read_outputs(path: Path) -> dict[str, str | None]:
    """Read a Parquet or JSON Lines file with the columns ``record_id`` and ``sanitized``.

    Returns:
        Record id -> clean text, or None where the sanitizer gave nothing.

    Raises:
        OutputsUnusable: it cannot be read, lacks a column, or has an id twice.
    """
    found: dict[str, str | None] = {}
    repeated: dict[str, None] = {}
    rows = _parquet_rows(path) if path.suffix == ".parquet" else _json_rows(path)
    for record_id, text in rows:
        if record_id in found:
            repeated[record_id] = None
        found[record_id] = text
    if repeated:
        raise OutputsUnusable(f"{path}: {_named(repeated)} more than once: leave one row a record")
    return found


def check_outputs(
    outputs: Mapping[str, str | None], path: Path, *, wanted: Collection[str], known: Collection[str]
) -> None:
    """Make sure that there is an output for every record to be evaluated, and none of another data set.

    Args:
        outputs: record id -> clean text.
        path: where they come from.
        wanted: ids of the records to be evaluated.
        known: ids of all triplets of the data set.

    Raises:
        OutputsUnusable: ids are missing, or not of this data set.
    """
    if strangers := [each for each in outputs if each not in known]:
        raise OutputsUnusable(f"{path}: {_named(strangers)} not in this data set: it is of other records")
    if missing := [each for each in wanted if each not in outputs]:
        raise OutputsUnusable(
            f"{path}: nothing for {_named(missing)}: add a row for each, with null where the sanitizer gave nothing"
        )


def _named(ids: Collection[str]) -> str:
    shown = ", ".join(list(ids)[:NAMED])
    more = f" and {len(ids) - NAMED:,} more" if len(ids) > NAMED else ""
    return f"{shown}{more}"


def _parquet_rows(path: Path) -> Iterator[tuple[str, str | None]]:
    try:
        with pq.ParquetFile(path) as file:
            if missing := {ID, TEXT} - set(file.schema_arrow.names):
                raise OutputsUnusable(f"{path}: no column {', '.join(sorted(missing))}")
            table = file.read(columns=[ID, TEXT])
    except (OSError, pa.ArrowInvalid) as error:
        raise OutputsUnusable(f"{path}: cannot be read as Parquet: {error}") from error
    for place, (record_id, text) in enumerate(zip(table[ID].to_pylist(), table[TEXT].to_pylist(), strict=True)):
        yield _checked(record_id, text, f"{path}: row {place}")


def _json_rows(path: Path) -> Iterator[tuple[str, str | None]]:
    try:
        with path.open(encoding="utf-8") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield _json_row(line, f"{path}: line {number}")
    except (OSError, UnicodeDecodeError) as error:
        raise OutputsUnusable(f"{path}: cannot be read as JSON Lines: {error}") from error


def _json_row(line: str, place: str) -> tuple[str, str | None]:
    try:
        row = json.loads(line)
    except (ValueError, RecursionError) as error:  # no JSON, or nested beyond measure
        raise OutputsUnusable(f"{place}: not JSON: {error}") from error
    if not isinstance(row, dict) or not {ID, TEXT} <= row.keys():
        raise OutputsUnusable(f"{place}: needs {ID!r} and {TEXT!r}")
    return _checked(row[ID], row[TEXT], place)


def _checked(record_id: object, text: object, place: str) -> tuple[str, str | None]:
    if not isinstance(record_id, str) or not record_id:
        raise OutputsUnusable(f"{place}: {ID} is {record_id!r}, and has to be a text")
    if text is not None and not isinstance(text, str):
        raise OutputsUnusable(f"{place}, {record_id}: {TEXT} is a {type(text).__name__}, and has to be a text or null")
    try:
        f"{record_id}{text}".encode()
    except UnicodeEncodeError as error:
        raise OutputsUnusable(f"{place}, {record_id!a}: half a surrogate pair: no evaluator takes it") from error
    return record_id, text
