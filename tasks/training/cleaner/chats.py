"""Where the chats come from: an export of ``privasis export``, or the triplets of a data set themselves."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.training.answers import Chat
from tasks.training.cleaner.prepare import DataUnfit

_COLUMNS = ("record_id", "messages")
_SPLITS = ("train", "validation")
_CHUNK_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Chats:
    """Chats to train on and to validate with.

    Attributes:
        sources: what they were read from: name -> SHA-256 of its content.
    """

    train: list[Chat]
    validation: list[Chat]
    sources: Mapping[str, str]


def read_export(folder: Path) -> Chats:
    """Read the files ``<split>-*.parquet`` or ``<split>*.jsonl`` in ``folder`` or in its folder ``data``.

    Raises:
        DataUnfit: there is none to train on, or a file has not the columns of an export.
    """
    found: dict[str, list[Chat]] = {}
    sources: dict[str, str] = {}
    for split in _SPLITS:
        files = [file for file in _files(folder) if file.stem == split or file.name.startswith(f"{split}-")]
        found[split] = [chat for file in files for chat in _chats(file)]
        sources |= {str(file.relative_to(folder)): _sha256(file) for file in files}
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


def _files(folder: Path) -> list[Path]:
    return sorted(
        file
        for place in (folder, folder / "data")
        if place.is_dir()
        for file in place.iterdir()
        if file.suffix in (".parquet", ".jsonl")
    )


def _chats(file: Path) -> Iterator[Chat]:
    rows = _jsonl(file) if file.suffix == ".jsonl" else _parquet(file)
    for number, row in enumerate(rows):
        yield chat_of(row, f"{file}, row {number}")


def _parquet(file: Path) -> Iterator[Mapping[str, Any]]:
    with _opened(file) as source:
        if missing := set(_COLUMNS) - set(source.schema_arrow.names):
            raise DataUnfit(f"{file}: no column {', '.join(sorted(missing))}: is it an export?")
        for batch in source.iter_batches(columns=list(_COLUMNS)):
            yield from batch.to_pylist()


def _opened(file: Path) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(file)
    except pa.ArrowInvalid as error:
        raise DataUnfit(f"{file}: cannot be read as Parquet: {error}") from error


def _jsonl(file: Path) -> Iterator[Mapping[str, Any]]:
    with file.open("rb") as lines:
        for number, line in enumerate(lines):
            if line.strip():
                try:
                    yield json.loads(line)
                except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or nested beyond measure
                    raise DataUnfit(f"{file}, line {number + 1}: not JSON in UTF-8") from error


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as source:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()
