from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from infra.shards import files
from infra.shards.manifest import FileRecord
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from infra.shards.verify import verify
from tests.infra.shards.samples import NOTES, commit, make_store, tables_of

A, B = ShardRange(0, 10), ShardRange(10, 20)


@pytest.fixture
def store(tmp_path: Path) -> StageStore:
    store = make_store(tmp_path)
    for shard in (A, B):
        with store.acquire(shard) as lease:
            with store.journal(lease) as journal:
                journal.append("a", b"1")
            commit(store, shard, lease=lease)
    return store


def found(store: StageStore) -> list[tuple[str, str]]:
    return sorted((finding.kind, finding.path.name) for finding in verify(store))


def restate(store: StageStore, shard: ShardRange, table: pa.Table, rows: int) -> None:
    """Put other rows in place, with an entry that has their hash."""
    path = store.layout.data_file("notes", shard)
    pq.write_table(table, path)
    data = path.read_bytes()
    record = store.manifest.record(shard)
    file = FileRecord(rows=rows, bytes=len(data), sha256=files.sha256(data))
    store.manifest.remove(shard)
    store.manifest.put(record.model_copy(update={"files": {**record.files, "notes": file}}))


def test_a_sound_store_has_no_findings(store: StageStore) -> None:
    assert verify(store) == []


def test_a_changed_byte_is_found(store: StageStore) -> None:
    path = store.layout.data_file("notes", A)
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    assert found(store) == [("content_differs", path.name)]


def test_a_missing_file_is_found(store: StageStore) -> None:
    store.layout.data_file("rejects", B).unlink()
    assert found(store) == [("file_missing", "part-00000010-00000020.parquet")]


def test_a_wrong_row_count_is_found(store: StageStore) -> None:
    restate(store, A, tables_of(A)["notes"], rows=8)
    assert found(store) == [("rows_differ", "part-00000000-00000010.parquet")]


def test_a_wrong_schema_is_found(store: StageStore) -> None:
    restate(store, A, tables_of(A)["notes"].drop_columns(["tags"]), rows=9)
    assert found(store) == [("schema_differs", "part-00000000-00000010.parquet")]


def test_an_id_in_two_shards_is_found(store: StageStore) -> None:
    restate(store, B, tables_of(A)["notes"], rows=9)
    assert found(store) == [("ids_repeat", "writing")]


def test_a_stage_without_ids_is_verified_too(store: StageStore, tmp_path: Path) -> None:
    plain = StageStore(tmp_path, "letters", "writing", store.tables)
    restate(store, A, tables_of(A)["notes"], rows=8)
    assert found(plain) == [("rows_differ", "part-00000000-00000010.parquet")]


def test_a_corrupt_entry_is_found(store: StageStore) -> None:
    store.manifest.path(A).write_text("{}")
    assert found(store) == [("manifest_corrupt", "part-00000000-00000010.json")]


def test_entries_that_claim_the_same_row_are_found(store: StageStore) -> None:
    store.manifest.path(A).rename(store.manifest.path(ShardRange(5, 15)))
    assert found(store) == [("manifest_corrupt", "writing")]


def test_leftovers_are_found_and_those_of_the_living_are_not(store: StageStore) -> None:
    shard = ShardRange(20, 30)
    with store.acquire(shard) as lease:
        with store.journal(lease) as journal:
            journal.append("a", b"1")
        with store.layout.open_journal(shard).open("ab") as file:
            file.write(b"torn")
        pq.write_table(NOTES.empty_table(), store.layout.data_file("notes", shard))
        (store.layout.tables["notes"] / f".{shard.name}.parquet.0a1b2c3d.tmp").touch()
        assert verify(store) == []
    assert found(store) == [
        ("journal_torn", "part-00000020-00000030.journal"),
        ("orphan", "part-00000020-00000030.parquet"),
        ("temporary", ".part-00000020-00000030.parquet.0a1b2c3d.tmp"),
    ]


def test_journals_are_read(store: StageStore) -> None:
    with store.acquire(A) as lease, store.journal(lease) as journal:
        journal.append("b", b"1")
    archive = store.layout.archive(B)
    archive.write_bytes(archive.read_bytes()[:20])
    path = store.layout.open_journal(ShardRange(20, 30))
    path.write_bytes(b"no journal")
    assert found(store) == [
        ("journal_corrupt", "part-00000010-00000020.journal.zst"),
        ("journal_corrupt", "part-00000020-00000030.journal"),
        ("journal_open", "part-00000000-00000010.journal"),
    ]


def test_files_of_others_are_found(store: StageStore) -> None:
    (store.layout.tables["notes"] / "extra.parquet").touch()
    (store.manifest.directory / "part-00000000-00000010.json.bak").touch()
    assert found(store) == [("stranger", "extra.parquet"), ("stranger", "part-00000000-00000010.json.bak")]
