"""Reads chats: from the triplets of a data set themselves, or from an export of ``privasis export``."""

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.parquet as pq

from infra.shards import files
from infra.shards.location import Location
from tasks.evaluation.splitting.steps import SplitsOld, check_current, read_splits, splits_store
from tasks.export.rows import COLUMNS, chats
from tasks.sanitization.steps import triplets_store
from tasks.training.answers import Chat
from tasks.training.cleaner.chats import Chats, chat_of
from tasks.training.cleaner.prepare import DataUnfit

_COLUMNS = ("record_id", "messages")
_SPLITS = ("train", "validation")


def read_chats(folder: Location) -> Chats:
    """Read a data set with triplets that are split, or an export.

    Raises:
        DataUnfit: there is nothing to train on, what is there cannot be read as chats, or some of it is not split.
        ManifestCorrupt, SchemaMismatch, TableDamaged: a file of the data set is not as it was committed.
    """
    folder = folder.resolve()
    if not files.is_folder(folder / "triplets"):
        return read_export(folder)
    store = triplets_store(folder.parent, folder.name)
    shards = store.manifest.shards()
    splits = read_splits(folder.parent, folder.name)
    if splits is None:
        raise DataUnfit(f"{folder}: its triplets are not split: `privasis split` first, so that tests stay unseen")
    try:
        check_current(store, splits_store(folder.parent, folder.name))
    except SplitsOld as error:
        raise DataUnfit(f"{folder}: {error}") from error
    found: dict[str, list[Chat]] = {"train": [], "validation": []}
    for shard in shards:
        tables = chats(store.read_shard("triplets", shard, COLUMNS), splits)
        for split, table in tables.items():
            if split in found:
                found[split] += [chat_of(row, f"{folder}: triplets {shard.name}") for row in table.to_pylist()]
    if not found["train"]:
        raise DataUnfit(f"{folder}: `privasis split` has left no verified triplet to train on")
    sources = {f"triplets/{shard.name}": store.manifest.record(shard).files["triplets"].sha256 for shard in shards}
    return Chats(found["train"], found["validation"], sources)


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
