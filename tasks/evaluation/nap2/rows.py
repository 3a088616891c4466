"""Files of the NaP² format (PV section 4.4): an utterance, what is private about its speaker, and a rewrite of it.

The published files are CSV, and Arrow for training; what their columns are called is the reader's to say.
"""

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field


class Nap2Unusable(ValueError):
    """A file is not of the format; the message says where and what to do."""


class Columns(BaseModel):
    """What the columns of a file are called."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    original: str = Field(default="original", min_length=1)
    sanitized: str = Field(default="sanitized", min_length=1)
    sensitive: str = Field(default="sensitive", min_length=1)


@dataclass(frozen=True, slots=True)
class Nap2Row:
    """A rewrite, and what it should not tell."""

    row_id: str
    index: int
    original: str
    sanitized: str
    sensitive: str


def read_nap2(path: Path, columns: Columns) -> list[Nap2Row]:
    """Read a ``.csv``, ``.jsonl`` or ``.parquet`` file; sensitive information may be a list of sentences.

    Raises:
        Nap2Unusable: it cannot be read, lacks a column, or a row lacks a value.
    """
    try:
        found = list(_raw(path))
    except (OSError, ValueError, RecursionError, csv.Error, pa.ArrowInvalid) as error:
        raise Nap2Unusable(f"{path}: cannot be read: {error}") from error
    if not found:
        raise Nap2Unusable(f"{path}: has no rows")
    if (odd := next((place for place, row in enumerate(found) if not isinstance(row, dict)), None)) is not None:
        raise Nap2Unusable(f"{path}: row {odd}: is no object")
    wanted = (columns.original, columns.sanitized, columns.sensitive)
    if missing := [name for name in wanted if name not in found[0]]:
        raise Nap2Unusable(
            f"{path}: no column {', '.join(missing)}; there are {', '.join(map(str, found[0]))}: say which is which"
            " with --columns original=NAME,sanitized=NAME,sensitive=NAME"
        )
    return [
        Nap2Row(f"n-{index:08d}", index, *(_text(row, name, f"{path}: row {index}") for name in wanted))
        for index, row in enumerate(found)
    ]


def _raw(path: Path) -> Iterator[Mapping[str, Any]]:
    match path.suffix:
        case ".csv":
            with path.open(encoding="utf-8-sig", newline="") as file:
                yield from csv.DictReader(file)
        case ".jsonl":
            with path.open(encoding="utf-8") as file:
                yield from (json.loads(line) for line in file if line.strip())
        case ".parquet":
            yield from pq.read_table(path).to_pylist()
        case other:
            raise ValueError(f"{other or 'no'} suffix: give .csv, .jsonl or .parquet")


def _text(row: Mapping[str, Any], name: str, place: str) -> str:
    value = row.get(name)
    if isinstance(value, list) and value and all(isinstance(each, str) for each in value):
        value = "\n".join(value)
    if not isinstance(value, str):
        raise Nap2Unusable(f"{place}: {name} is {type(value).__name__}, and has to be a text")
    if not value.strip() and name != "sanitized":
        raise Nap2Unusable(f"{place}: {name} is empty")
    try:
        value.encode()
    except UnicodeEncodeError as error:
        raise Nap2Unusable(f"{place}: {name} has half a surrogate pair: no evaluator takes it") from error
    return value
