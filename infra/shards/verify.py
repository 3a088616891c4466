"""Everything that can be wrong with a stage's files, as data."""

import sys
from collections.abc import Container, Iterator, Set
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from infra.shards import files, lease, parquet
from infra.shards.checks import RowsMismatch, SchemaMismatch, check_ids
from infra.shards.frames import JournalCorrupt, scan, unpack
from infra.shards.journal import open_pieces
from infra.shards.location import Location, ObjectPath
from infra.shards.manifest import ManifestCorrupt
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore

Kind = Literal[
    "manifest_corrupt",
    "file_missing",  # the manifest names it
    "content_differs",  # from the hash in the manifest
    "rows_differ",
    "schema_differs",
    "ids_repeat",
    "journal_corrupt",
    "journal_torn",  # a killed worker's: the next one cuts it
    "journal_open",  # of a committed shard: `sweep` archives it
    "orphan",  # a data file that no manifest entry names: whoever reads by file name would count it
    "temporary",  # `sweep` removes it
    "stranger",  # no store has written it
]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be."""

    kind: Kind
    path: Location
    detail: str


def verify(store: StageStore) -> list[Finding]:
    """Read everything again and compare it with the manifest; changes nothing.

    Files of shards that somebody works on at this moment are left out.
    """
    try:
        committed = store.manifest.shards()
    except ManifestCorrupt as error:
        return [Finding("manifest_corrupt", store.manifest.directory, str(error))]
    busy = lease.live(store.layout.lease, overlapping=ShardRange(0, sys.maxsize))
    findings: list[Finding] = []
    sound: dict[str, pa.Table] = {}
    for shard in committed:
        if shard not in busy:
            findings += _check_shard(store, shard, sound)
    findings += _check_ids(store, sound)
    findings += _check_open_journals(store, set(committed), busy)
    findings += _check_archives(store, busy)
    findings += _check_names(store, set(committed), busy)
    return findings


def _check_shard(store: StageStore, shard: ShardRange, sound: dict[str, pa.Table]) -> Iterator[Finding]:
    """Compare the data files of ``shard`` with its entry; the ids in those as they should be are put into ``sound``."""
    try:
        record = store.manifest.record(shard)
    except ManifestCorrupt as error:
        yield Finding("manifest_corrupt", store.manifest.path(shard), str(error))
        return
    if record.files.keys() != store.tables.keys():
        detail = f"has tables {sorted(record.files)}, the stage owns {sorted(store.tables)}: the plan calls it stale"
        yield Finding("schema_differs", store.manifest.path(shard), detail)
        return
    for table, file in record.files.items():
        path = store.layout.data_file(table, shard)
        data = files.read(path)
        if data is None:
            yield Finding("file_missing", path, f"{file.rows} rows were committed; resume makes them again")
        elif (sha256 := files.sha256(data)) != file.sha256:
            yield Finding("content_differs", path, f"SHA-256 {sha256}, {file.sha256} was committed")
        else:
            yield from _check_rows(store, table, path, file.rows, sound)


def _check_rows(
    store: StageStore, table: str, path: Location, rows: int, sound: dict[str, pa.Table]
) -> Iterator[Finding]:
    column = store.id_column or store.tables[table].names[0]  # without ids, any column counts the rows
    try:
        found = parquet.read(path, store.tables[table], [column])
    except SchemaMismatch as error:
        yield Finding("schema_differs", path, str(error))
        return
    sound[str(path)] = found
    if found.num_rows != rows:
        yield Finding("rows_differ", path, f"{found.num_rows} rows, {rows} were committed")


def _check_ids(store: StageStore, sound: dict[str, pa.Table]) -> Iterator[Finding]:
    """Look for ids that shards share: each was checked by itself when it was committed."""
    if store.id_column is not None:
        try:
            check_ids(sound, store.id_column, "all shards")
        except RowsMismatch as error:
            yield Finding("ids_repeat", store.manifest.directory, str(error))


def _check_open_journals(
    store: StageStore, committed: Set[ShardRange], busy: Container[ShardRange]
) -> Iterator[Finding]:
    for shard, journal in store.layout.open_journals():
        if shard in busy:
            continue
        pieces = list(open_pieces(journal))
        if pieces and shard in committed:
            yield Finding("journal_open", journal, "its shard is committed; the next sweep archives it")
        for path, data in pieces:
            yield from _check_piece(path, data)


def _check_piece(path: Location, data: bytes) -> Iterator[Finding]:
    """Look at a journal's file, or at a segment of it in an object store, which is whole or damaged."""
    try:
        end = len(data) if isinstance(path, ObjectPath) and unpack(data, path) else scan(data, path).end
    except JournalCorrupt as error:
        yield Finding("journal_corrupt", path, str(error))
        return
    if end != len(data):
        yield Finding("journal_torn", path, f"{len(data) - end} of {len(data)} bytes; the next worker cuts them")


def _check_archives(store: StageStore, busy: Container[ShardRange]) -> Iterator[Finding]:
    for shard, path in store.layout.archives():
        data = files.read(path)
        if data is None or shard in busy:
            continue
        try:
            unpack(data, path)
        except JournalCorrupt as error:
            yield Finding("journal_corrupt", path, str(error))


def _check_names(store: StageStore, committed: Set[ShardRange], busy: Container[ShardRange]) -> Iterator[Finding]:
    for shard, path in store.layout.data_files():
        if shard not in committed and shard not in busy:
            yield Finding("orphan", path, "no manifest entry names it; committing its shard replaces it")
    for shard, path in store.layout.temporaries():
        if shard not in busy:
            yield Finding("temporary", path, "a worker died while it wrote this; the next sweep removes it")
    for path in store.layout.strangers():
        yield Finding("stranger", path, "no store has written this")
