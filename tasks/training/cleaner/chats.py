"""Where the chats come from: an export of ``privasis export``, or the triplets of a data set themselves."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from infra.shards import files
from infra.shards.location import Location
from tasks.training.answers import Chat
from tasks.training.cleaner.prepare import DataUnfit

_COLUMNS = ("record_id", "messages")
_SPLITS = ("train", "validation")


@dataclass(frozen=True, slots=True)
class Chats:
    """Chats to train on and to validate with.

    Attributes:
        sources: what they were read from: name -> SHA-256 of its content.
    """

    train: list[Chat]
    validation: list[Chat]
    sources: Mapping[str, str]


def read_export(folder: Location) -> Chats:
    """Read the files ``<split>-*.parquet`` or ``<split>*.jsonl`` in ``folder`` or in its folder ``data``.

    Raises:
        DataUnfit: there is none to train on, or a file has not the columns of an export.
    """
    found: dict[str, list[Chat]] = {}
    sources: dict[str, str] = {}
    there = _files(folder)
    for split in _SPLITS:
        chosen = {name: file for name, file in there.items() if file.stem == split or file.name.startswith(f"{split}-")}
        found[split] = [chat for file in chosen.values() for chat in _chats(file)]
        sources |= {name: _sha256(file) for name, file in chosen.items()}
    if not found["train"]:
        raise DataUnfit(
            f"{folder}: no chats to train on (data/train-*.parquet): give the folder that `privasis export` wrote, or a"
            " data set with triplets"
        )
    return Chats(found["train"], found["validation"], sources)


def chat_of(row: Mapping[str, Any], place: str) -> Chat:
    """Read a row with the columns ``record_id`` and ``messages``.

    Raises:
        DataUnfit: it has not, or a message is not a role and its content.
    """
    try:
        messages = tuple({"role": each["role"], "content": each["content"]} for each in row["messages"])
        chat = Chat(row["record_id"], messages)
    except (KeyError, TypeError) as error:
        raise DataUnfit(f"{place}: a row needs record_id and messages with role and content") from error
    texts = [chat.id, *(text for each in messages for text in each.values())]
    if not chat.id or not messages or not all(isinstance(text, str) for text in texts):
        raise DataUnfit(f"{place}: record_id {chat.id}: an id, a role or a content is missing, or no text")
    try:
        "".join(texts).encode()
    except UnicodeEncodeError as error:
        raise DataUnfit(f"{place}: record_id {chat.id!a}: half a surrogate pair: no tokenizer takes it") from error
    return chat


def _files(folder: Location) -> dict[str, Location]:
    """Return the tables of a folder and of its folder ``data``, by their names from the folder on."""
    return {
        prefix + name: place / name
        for prefix, place in (("", folder), ("data/", folder / "data"))
        for name in files.names(place)
        if name.endswith((".parquet", ".jsonl"))
    }


def _chats(file: Location) -> Iterator[Chat]:
    rows = _jsonl(file) if file.suffix == ".jsonl" else _parquet(file)
    for number, row in enumerate(rows):
        yield chat_of(row, f"{file}, row {number}")


def _parquet(file: Location) -> Iterator[Mapping[str, Any]]:
    with files.opened(file) as content, _read(file, content) as source:
        if missing := set(_COLUMNS) - set(source.schema_arrow.names):
            raise DataUnfit(f"{file}: no column {', '.join(sorted(missing))}: is it an export?")
        for batch in source.iter_batches(columns=list(_COLUMNS)):
            yield from batch.to_pylist()


def _read(file: Location, content: BinaryIO) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(content)
    except pa.ArrowInvalid as error:
        raise DataUnfit(f"{file}: cannot be read as Parquet: {error}") from error


def _jsonl(file: Location) -> Iterator[Mapping[str, Any]]:
    with files.opened(file) as lines:
        for number, line in enumerate(lines):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or nested beyond measure
                    raise DataUnfit(f"{file}, line {number + 1}: not JSON in UTF-8") from error


def _sha256(file: Location) -> str:
    with files.opened(file) as content:
        return hashlib.file_digest(content, "sha256").hexdigest()
