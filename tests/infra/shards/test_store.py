import hashlib
import os
import time
from pathlib import Path
from random import Random

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from infra.shards.checks import RowsMismatch, SchemaMismatch
from infra.shards.journal import read_events
from infra.shards.lease import LeaseHeld, LeaseLost, acquire
from infra.shards.manifest import AlreadyCommitted
from infra.shards.owner import Owner
from infra.shards.parquet import TableDamaged
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tests.infra.shards.samples import NOTES, REJECTS, commit, make_store, tables_of

SHARD = ShardRange(0, 10)
NEXT = ShardRange(10, 20)


def everything(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_what_was_committed_is_read_in_the_order_of_rows(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    assert store.read("notes").equals(NOTES.empty_table())
    commit(store, NEXT)
    record = commit(store, SHARD)
    assert store.read("notes", ["index"])["index"].to_pylist() == [n for n in range(20) if n % 10 != 2]
    assert store.read("notes").schema.equals(NOTES, check_metadata=True)
    assert store.read("notes", ["text", "index"]).column_names == ["text", "index"]
    assert store.read_shard("notes", NEXT).schema.equals(NOTES, check_metadata=True)
    assert store.read_shard("rejects", NEXT)["note_id"].to_pylist() == ["n12"]
    data = store.layout.data_file("notes", SHARD).read_bytes()
    assert record == store.manifest.record(SHARD)
    assert record.files["notes"].model_dump() == {
        "rows": 9,
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
    }


def test_the_layout_is_as_promised(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with store.acquire(SHARD) as lease, store.journal(lease) as journal:
        journal.append("a", b"1")
        assert (tmp_path / "letters/journal/writing/part-00000000-00000010.journal").is_file()
    commit(store, SHARD)
    assert sorted(everything(tmp_path)) == [
        "letters/journal/writing/part-00000000-00000010.journal.zst",
        "letters/lease/writing/part-00000000-00000010.2.json",
        "letters/manifest/writing/part-00000000-00000010.json",
        "letters/notes/part-00000000-00000010.parquet",
        "letters/rejects/part-00000000-00000010.parquet",
    ]


def test_everything_is_on_the_disk_before_the_entry_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = make_store(tmp_path)
    lease = store.acquire(SHARD)
    done: list[tuple[str, Path]] = []
    real_replace, real_link = os.replace, os.link

    def fsync(descriptor: int) -> None:
        done.append(("sync", Path(f"/proc/self/fd/{descriptor}").readlink()))

    def replace(source: Path, target: Path) -> None:
        real_replace(source, target)
        done.extend([("name", source), ("named", target)])

    def link(source: Path, target: Path) -> None:
        real_link(source, target)
        done.extend([("name", source), ("named", target)])

    monkeypatch.setattr(os, "fsync", fsync)
    monkeypatch.setattr(os, "replace", replace)
    monkeypatch.setattr(os, "link", link)
    commit(store, SHARD, lease=lease)
    entry = done.index(("named", store.manifest.path(SHARD)))
    for table in store.tables:
        named = done.index(("named", store.layout.data_file(table, SHARD)))
        _, temporary = done[named - 1]
        assert done.index(("sync", temporary)) < named
        assert named < done.index(("sync", store.layout.tables[table]), named) < entry
    assert done.index(("sync", done[entry - 1][1])) < entry
    assert ("sync", store.manifest.directory) in done[entry:]


def test_other_readers_need_none_of_our_code(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, SHARD)
    commit(store, NEXT)
    assert pl.scan_parquet(tmp_path / "letters/notes/part-*.parquet").collect()["note_id"].n_unique() == 18
    assert pl.scan_parquet(store.paths("notes")).collect().equals(pl.DataFrame(store.read("notes")))
    assert len(pd.read_parquet(tmp_path / "letters/rejects")) == 2


def test_empty_tables_are_written_with_their_schema(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, ShardRange(3, 5))
    assert pq.read_table(store.layout.data_file("rejects", ShardRange(3, 5))).equals(REJECTS.empty_table())


def test_equal_rows_make_equal_bytes_however_they_lie_in_memory(tmp_path: Path) -> None:
    shard = ShardRange(0, 300)
    random = Random(7)
    rows = [
        {"note_id": f"n{n}", "index": n, "text": f"{random.getrandbits(32_000):x}", "tags": None if n % 3 else ["a"]}
        for n in range(300)  # 2.4 MB: pages end where chunks do, unless something is done about it
    ]
    whole = pa.Table.from_pylist(rows, schema=NOTES)
    pieces = pa.concat_tables([whole.slice(start, 7) for start in range(0, 300, 7)])
    found = set()
    for n, table in enumerate((whole, pieces)):
        store = make_store(tmp_path / str(n))
        commit(store, shard, tables={"notes": table, "rejects": REJECTS.empty_table()})
        found.add(store.layout.data_file("notes", shard).read_bytes())
    assert len(found) == 1


def without_metadata(table: pa.Table) -> pa.Table:
    return table.replace_schema_metadata({"pandas": "{}"})


NULLABLE = NOTES.set(0, pa.field("note_id", pa.string()))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda table: table.drop_columns(["text"]), "notes/part-00000000-00000010: text: found no such column"),
        (lambda table: table.append_column("more", table["text"]), "more: found string, the schema says no such"),
        (
            lambda table: table.append_column("text", table["text"]),
            "text: found string, string, the schema says string",
        ),
        (lambda table: table.set_column(1, "index", table["index"].cast(pa.int32())), "index: found int32"),
        (lambda table: table.cast(NULLABLE), "note_id: found string, the schema says string not null"),
        (lambda table: table.select(["note_id", "index", "tags", "text"]), "in the order .*'tags', 'text'"),
        (without_metadata, "replace_schema_metadata"),
    ],
)
def test_a_table_that_differs_from_its_schema_is_refused_with_the_column(
    tmp_path: Path, change: object, message: str
) -> None:
    store = make_store(tmp_path)
    tables = tables_of(SHARD)
    with pytest.raises(SchemaMismatch, match=message):
        commit(store, SHARD, tables=tables | {"notes": change(tables["notes"])})  # type: ignore[operator]
    assert store.manifest.shards() == []


def test_a_null_where_none_is_allowed_is_refused(tmp_path: Path) -> None:
    rows = [*tables_of(SHARD)["rejects"].to_pylist(), {"note_id": "n99", "reason": None}]
    tables = tables_of(SHARD) | {"rejects": pa.Table.from_pylist(rows, schema=REJECTS)}
    with pytest.raises(SchemaMismatch, match=r"rejects/part-.*: reason: 1 nulls \(first in row 1\)"):
        commit(make_store(tmp_path), SHARD, tables=tables)


def test_every_table_of_the_stage_must_be_given(tmp_path: Path) -> None:
    with pytest.raises(SchemaMismatch, match=r"tables \['notes'\]"):
        commit(make_store(tmp_path), SHARD, tables={"notes": tables_of(SHARD)["notes"]})


def test_no_row_may_vanish(tmp_path: Path) -> None:
    tables = tables_of(SHARD)
    with pytest.raises(RowsMismatch, match=r"10 rows in, 9 out \(8 notes \+ 1 rejects\)"):
        commit(make_store(tmp_path), SHARD, tables=tables | {"notes": tables["notes"].slice(1)})


def test_an_id_may_occur_once_in_all_tables_together(tmp_path: Path) -> None:
    tables = tables_of(SHARD)
    rejects = pa.Table.from_pylist([{"note_id": "n7", "reason": "twice"}], schema=REJECTS)
    with pytest.raises(RowsMismatch, match="1 ids occur more than once, such as n7"):
        commit(make_store(tmp_path), SHARD, tables=tables | {"rejects": rejects})


def test_a_row_without_an_id_is_refused(tmp_path: Path) -> None:
    schema = pa.schema([("note_id", pa.string())])
    store = StageStore(tmp_path, "letters", "reading", {"sums": schema}, id_column="note_id")
    table = pa.table({"note_id": ["n1", None]}, schema=schema)
    with pytest.raises(RowsMismatch, match="1 rows have no id"):
        commit(store, ShardRange(0, 2), tables={"sums": table})


def test_a_refused_commit_leaves_the_earlier_one_as_it_was(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, SHARD)
    before = everything(tmp_path / "letters/notes") | everything(tmp_path / "letters/manifest")
    with pytest.raises(RowsMismatch):
        commit(store, SHARD, tables=tables_of(ShardRange(0, 9)))
    assert everything(tmp_path / "letters/notes") | everything(tmp_path / "letters/manifest") == before


def test_a_shard_done_again_replaces_its_rows(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, SHARD)
    commit(store, SHARD, spec="spec-2", tables=tables_of(SHARD, "good day"))
    assert store.read("notes")["text"].to_pylist()[:2] == ["good day 0", "good day 1"]
    record = store.manifest.record(SHARD)
    assert (record.spec_hash, record.fencing_token) == ("spec-2", 2)


def test_rows_cannot_be_committed_twice_in_shards_cut_otherwise(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, SHARD)
    with pytest.raises(AlreadyCommitted, match="committed in part-00000000-00000010; plan anew"):
        commit(store, ShardRange(5, 15))


def test_a_worker_that_lost_its_lease_writes_nothing(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    gone = Owner(host="elsewhere", place="another kernel", pid=1, started="1")
    slow = acquire(store.layout.lease, SHARD, ttl_s=1e-6, owner=gone)
    commit(store, SHARD)
    before = everything(tmp_path)
    with pytest.raises(LeaseLost):
        commit(store, SHARD, lease=slow, tables=tables_of(SHARD, "too late"))
    with pytest.raises(LeaseLost):
        store.journal(slow)
    assert everything(tmp_path) == before


@pytest.mark.parametrize("table", ["notes", "rejects"])
def test_a_worker_that_loses_its_lease_in_the_middle_does_not_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    store = make_store(tmp_path)
    gone = Owner(host="elsewhere", place="another kernel", pid=1, started="1")
    slow = acquire(store.layout.lease, SHARD, ttl_s=0.05, owner=gone)
    real = os.replace

    def replace(source: Path, target: Path) -> None:
        real(source, target)
        if target == store.layout.data_file(table, SHARD):
            time.sleep(0.06)
            store.acquire(SHARD)

    monkeypatch.setattr(os, "replace", replace)
    with pytest.raises(LeaseLost):
        commit(store, SHARD, lease=slow)
    assert store.manifest.shards() == []
    assert [path for _, path in store.layout.temporaries()] == []


def test_a_lease_is_good_for_its_own_shard_and_stage_only(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    other = StageStore(tmp_path, "letters", "reading", {"sums": REJECTS})
    with pytest.raises(ValueError, match="the lease is for"):
        commit(store, SHARD, lease=store.acquire(NEXT))
    with pytest.raises(ValueError, match="the lease is for"):
        commit(store, SHARD, lease=other.acquire(SHARD))


async def test_a_shard_done_again_pays_nothing_again(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    paid = []

    async def produce() -> bytes:
        paid.append(1)
        return b"answer"

    for spec in ("spec-1", "spec-2"):
        with store.acquire(SHARD) as lease:
            with store.journal(lease) as journal:
                assert await journal.once("draft", produce) == b"answer"
            commit(store, SHARD, spec=spec, lease=lease)
    assert len(paid) == 1
    assert len(read_events(store.layout.archive(SHARD))) == 1


async def test_rows_cut_anew_find_what_was_paid_for_them(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with store.acquire(ShardRange(0, 512)) as lease, store.journal(lease) as journal:
        journal.append("row 3", b"paid")
    with store.acquire(SHARD) as lease, store.journal(lease) as journal:
        assert journal.get("row 3") == b"paid"
    with store.acquire(ShardRange(512, 600)) as lease, store.journal(lease) as journal:
        assert journal.get("row 3") is None


def test_a_file_that_the_manifest_does_not_name_is_not_read(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, SHARD)
    pq.write_table(tables_of(NEXT)["notes"], store.layout.data_file("notes", NEXT))
    assert store.read("notes").num_rows == 9
    assert store.paths("notes") == [store.layout.data_file("notes", SHARD)]
    with pytest.raises(KeyError, match="not committed"):
        store.read_shard("notes", NEXT)


def test_a_file_of_another_schema_is_not_read(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, SHARD)
    pq.write_table(tables_of(SHARD)["rejects"], store.layout.data_file("notes", SHARD))
    with pytest.raises(SchemaMismatch, match=r"part-00000000-00000010\.parquet: index"):
        store.read("notes")


@pytest.mark.parametrize("name", ["..", "", ".", "a/b", "/etc", ".hidden", "a\0", "-x"])
def test_no_name_leaves_the_root(tmp_path: Path, name: str) -> None:
    for arguments in ((name, "writing", "notes"), ("letters", name, "notes"), ("letters", "writing", name)):
        dataset, stage, table = arguments
        with pytest.raises(ValueError, match="letters, digits"):
            StageStore(tmp_path, dataset, stage, {table: NOTES})


def test_a_table_cannot_take_the_folder_of_the_manifest(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="'manifest'"):
        StageStore(tmp_path, "letters", "writing", {"manifest": NOTES})
    with pytest.raises(ValueError, match="'rejects' has no column 'index'"):
        StageStore(tmp_path, "letters", "writing", {"notes": NOTES, "rejects": REJECTS}, id_column="index")


def test_a_sweep_finishes_what_a_killed_worker_left_and_lets_the_living_be(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for shard in (SHARD, NEXT):
        commit(store, shard)
        with store.acquire(shard) as lease, store.journal(lease) as journal:
            journal.append("late", b"1")
        (store.layout.tables["notes"] / f".{shard.name}.parquet.0a1b2c3d.tmp").write_bytes(b"half")
    with store.acquire(NEXT):
        assert store.sweep() == [SHARD]
    assert not store.layout.open_journal(SHARD).exists()
    assert len(read_events(store.layout.archive(SHARD))) == 1
    assert store.layout.open_journal(NEXT).exists()
    assert [shard for shard, _ in store.layout.temporaries()] == [NEXT]
    assert store.sweep() == [NEXT]
    assert list(store.layout.temporaries()) == []
    assert store.sweep() == []


def test_the_journal_of_a_shard_that_is_not_committed_stays_open(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with store.acquire(SHARD) as lease, store.journal(lease) as journal:
        journal.append("a", b"1")
    (store.layout.journal / f".{SHARD.name}.journal.zst.0a1b2c3d.tmp").write_bytes(b"half")
    assert store.sweep() == [SHARD]
    assert store.layout.open_journal(SHARD).exists()
    with store.acquire(SHARD), pytest.raises(LeaseHeld):
        store.acquire(SHARD)


def test_a_shard_that_was_changed_after_its_commit_is_not_read(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, ShardRange(0, 10))
    path = store.layout.data_file("notes", ShardRange(0, 10))
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(TableDamaged, match=r"parquet is not as it was committed: let `privasis shards repair"):
        store.read_shard("notes", ShardRange(0, 10), ["index"])
    path.unlink()
    with pytest.raises(TableDamaged, match="is gone"):
        store.read_shard("notes", ShardRange(0, 10))


def test_a_shard_forgets_its_own_batches_when_it_is_committed_and_not_those_of_another(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    ledgers = [store.layout.batch_ledger(shard, model) for shard in (SHARD, NEXT) for model in ("a/b", "c")]
    torn = ledgers[0].with_name(f".{ledgers[0].name}.12ab34cd.tmp")  # a worker died while it wrote
    torn.parent.mkdir(parents=True)
    for path in (*ledgers, torn):
        path.write_text("{}")
    assert store.layout.batch_ledgers(SHARD) == sorted(ledgers[:2])
    commit(store, SHARD)
    assert sorted(torn.parent.iterdir()) == sorted(ledgers[2:])
