"""A stage whose root is in an object store: the same shards, on machines that share nothing else."""

import asyncio
import json
import signal
import subprocess
import sys
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import pytest

from infra.settings import settings
from infra.shards import files, lease, local_files, objects
from infra.shards.frames import pack
from infra.shards.journal import Journal, read_events
from infra.shards.lease import LeaseHeld, LeaseLost
from infra.shards.location import ObjectPath
from infra.shards.manifest import ShardSummary
from infra.shards.owner import Owner
from infra.shards.parquet import TableDamaged
from infra.shards.plan import plan
from infra.shards.ranges import ShardRange
from infra.shards.s3 import StorageUnavailable
from infra.shards.segments import Segment, segments
from infra.shards.verify import verify
from tests.infra.shards.object_store import BUCKET, Store
from tests.infra.shards.samples import commit, make_store, tables_of

REPOSITORY = Path(__file__).parents[3]
SHARD, NEXT = ShardRange(0, 10), ShardRange(10, 20)
ELSEWHERE = Owner(host="elsewhere", place="another kernel", pid=1, started="1")


@pytest.fixture
def place(bucket: Store, tmp_path: Path) -> ObjectPath:
    return ObjectPath(BUCKET, tmp_path.name)


def another_machine(monkeypatch: pytest.MonkeyPatch, scratch: Path) -> None:
    monkeypatch.setenv("PRIVASIS_SCRATCH", str(scratch))
    settings.cache_clear()


def keys(folder: ObjectPath) -> list[str]:
    """Return the path of every object under ``folder``, which begins with the folder's name."""
    inner = [key for each in files.folders(folder) for key in keys(folder / each)]
    return sorted(f"{folder.name}/{name}" for name in (*files.sizes(folder), *inner))


def test_rows_and_files_are_those_of_a_folder(place: ObjectPath, tmp_path: Path) -> None:
    here, there = make_store(tmp_path / "here"), make_store(place)
    for store in (here, there):
        with store.acquire(SHARD) as held:
            with store.journal(held) as journal:
                journal.append("a", b"1")
            commit(store, SHARD, lease=held)
        commit(store, NEXT)
    assert there.read("notes").equals(here.read("notes"))
    assert there.read("notes", ["text"]).equals(here.read("notes", ["text"]))
    assert there.read_shard("rejects", NEXT).equals(here.read_shard("rejects", NEXT))
    assert there.manifest.record(SHARD).files == here.manifest.record(SHARD).files
    names = sorted(
        str(path.relative_to(tmp_path / "here")) for path in (tmp_path / "here").rglob("*") if path.is_file()
    )
    assert keys(place / "letters") == names
    assert verify(there) == []
    assert plan(there, ShardRange(0, 20), 10, "spec-1").todo == ()


def test_a_shard_done_again_replaces_its_rows(place: ObjectPath) -> None:
    store = make_store(place)
    commit(store, SHARD)
    commit(store, SHARD, spec="spec-2", tables=tables_of(SHARD, "good day"))
    assert store.read("notes")["text"].to_pylist()[:2] == ["good day 0", "good day 1"]
    assert (store.manifest.record(SHARD).spec_hash, store.manifest.record(SHARD).fencing_token) == ("spec-2", 2)


def test_damage_is_found(place: ObjectPath) -> None:
    store = make_store(place)
    commit(store, SHARD)
    commit(store, NEXT)
    files.put(store.layout.data_file("notes", SHARD), b"other")
    files.delete(store.layout.data_file("notes", NEXT))
    files.put(store.layout.data_file("notes", ShardRange(20, 30)), b"")
    files.put(store.layout.tables["notes"] / "stranger.txt", b"")
    found = {(finding.kind, finding.path.name) for finding in verify(store)}
    assert found == {
        ("content_differs", f"{SHARD.name}.parquet"),
        ("file_missing", f"{NEXT.name}.parquet"),
        ("orphan", "part-00000020-00000030.parquet"),
        ("stranger", "stranger.txt"),
    }
    with pytest.raises(TableDamaged, match="is not as it was committed"):
        store.read_shard("notes", SHARD)


def test_a_worker_that_lost_its_lease_writes_nothing(place: ObjectPath) -> None:
    store = make_store(place)
    slow = lease.acquire(store.layout.lease, SHARD, ttl_s=1e-6, owner=ELSEWHERE)
    commit(store, SHARD)
    before = {name: files.read(place.parent / name) for name in keys(place)}
    with pytest.raises(LeaseLost):
        commit(store, SHARD, lease=slow, tables=tables_of(SHARD, "too late"))
    assert {name: files.read(place.parent / name) for name in keys(place)} == before


def test_of_many_that_want_a_lease_one_gets_it(place: ObjectPath) -> None:
    store = make_store(place)

    def take(_: int) -> int:
        try:
            return store.acquire(SHARD).token
        except LeaseHeld:
            return 0

    with ThreadPoolExecutor(6) as pool:
        assert sorted(pool.map(take, range(6))) == [0, 0, 0, 0, 0, 1]


def test_what_was_sent_is_found_on_another_machine(
    place: ObjectPath, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    store = make_store(place)
    with store.acquire(SHARD) as held, store.journal(held) as journal:
        journal.append("a", b"1")
    another_machine(monkeypatch, tmp_path / "another")
    with store.acquire(SHARD) as held, store.journal(held) as journal:
        assert journal.get("a") == b"1"
        journal.append("b", b"2")
    another_machine(monkeypatch, tmp_path / "third")
    with store.acquire(SHARD) as held:
        with store.journal(held) as journal:
            assert (journal.get("a"), journal.get("b")) == (b"1", b"2")
        commit(store, SHARD, lease=held)
    assert len(read_events(store.layout.archive(SHARD))) == 2
    assert list(store.layout.open_journals()) == []
    assert local_files.names(files.here(store.layout.journal)) == []


def test_what_a_killed_process_had_not_sent_is_found_on_its_machine_and_sent_then(
    place: ObjectPath, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = make_store(place)
    code = (
        "import sys, time\n"
        "from tests.infra.shards.samples import make_store\n"
        "from infra.shards.location import location\n"
        "from infra.shards.ranges import ShardRange\n"
        "store = make_store(location(sys.argv[1]))\n"
        "journal = store.journal(store.acquire(ShardRange(0, 10)))\n"
        "for n in range(7):\n"
        "    journal.append(f'event {n}', bytes([n]))\n"
        "print('written', flush=True)\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, "-c", code, str(place)]
    with subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "written\n"
        process.send_signal(signal.SIGKILL)
    assert segments(store.layout.open_journal(SHARD)) == []  # type: ignore[arg-type]
    assert plan(store, SHARD, 10, "spec-1").todo == (SHARD,)
    with store.acquire(SHARD) as held, store.journal(held) as journal:
        assert [journal.get(f"event {n}") for n in range(7)] == [bytes([n]) for n in range(7)]
    another_machine(monkeypatch, tmp_path / "another")
    with store.acquire(SHARD) as held, store.journal(held) as journal:
        assert len(journal) == 7


def test_events_are_sent_while_the_shard_is_worked_on(place: ObjectPath, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.shards.segments.SEGMENT_BYTES", 100)
    store = make_store(place)
    with store.acquire(SHARD) as held, store.journal(held) as journal:
        journal.append("a", bytes(200))
        for _ in range(500):
            if segments(store.layout.open_journal(SHARD)):  # type: ignore[arg-type]
                break
            asyncio.run(asyncio.sleep(0.01))
        assert read_events(store.layout.open_journal(SHARD)).values()
        assert segments(store.layout.open_journal(SHARD)) == [Segment(1, 1)]  # type: ignore[arg-type]
        journal.append("b", b"")
    assert segments(store.layout.open_journal(SHARD)) == [Segment(1, 1), Segment(1, 2)]  # type: ignore[arg-type]


def test_a_journal_that_is_opened_again_under_its_lease_goes_on(place: ObjectPath) -> None:
    store = make_store(place)
    with store.acquire(SHARD) as held:
        for key in ("a", "b"):
            with store.journal(held) as journal:
                journal.append(key, b"1")
    assert segments(store.layout.open_journal(SHARD)) == [Segment(1, 1), Segment(1, 2)]  # type: ignore[arg-type]
    assert len(read_events(store.layout.open_journal(SHARD))) == 2


def test_a_worker_that_lost_its_lease_sends_no_more_events(place: ObjectPath) -> None:
    store = make_store(place)
    slow = lease.acquire(store.layout.lease, SHARD, ttl_s=1e-6, owner=ELSEWHERE)
    journal = store.journal(slow)
    journal.append("a", b"1")
    store.acquire(SHARD)
    with pytest.raises(LeaseLost):
        journal.close()
    assert segments(store.layout.open_journal(SHARD)) == []  # type: ignore[arg-type]


def test_of_two_answers_the_first_that_was_sent_counts(place: ObjectPath) -> None:
    store = make_store(place)
    with store.acquire(SHARD) as held, store.journal(held) as journal:
        journal.append("a", b"first")
    with Journal(files.here(store.layout.open_journal(SHARD)).with_name("other")) as other:
        other.append("a", b"second")
    here = files.here(store.layout.open_journal(SHARD))
    here.with_name("other").replace(here)  # a process died here before it could send; another machine asked again
    with store.acquire(SHARD) as held, store.journal(held) as journal:
        assert journal.get("a") == b"first"


def test_a_damaged_segment_is_named(place: ObjectPath) -> None:
    store = make_store(place)
    path = store.layout.open_journal(SHARD) / Segment(1, 1).name
    files.put(path, pack({b"k" * 32: b"body"})[:-3])
    (finding,) = verify(store)
    assert (finding.kind, finding.path) == ("journal_corrupt", path)


def test_a_store_that_stops_answering_stops_the_shard_and_nothing_is_lost(bucket: Store, place: ObjectPath) -> None:
    store = make_store(place)
    with store.acquire(SHARD) as held:
        journal = store.journal(held)
        journal.append("a", b"1")
        bucket.fail("PUT", 503, "SlowDown", times=2)  # as many as are tried
        with pytest.raises(StorageUnavailable):
            journal.close()
        with store.journal(held) as journal:
            assert journal.get("a") == b"1"
    assert len(read_events(store.layout.open_journal(SHARD))) == 1


@pytest.mark.parametrize("writes", range(8))
def test_a_commit_that_breaks_off_is_whole_or_not_at_all(
    bucket: Store, place: ObjectPath, writes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store stops answering after so many writes, in a commit that replaces another."""
    store = make_store(place)
    commit(store, SHARD)
    held = store.acquire(SHARD)
    with store.journal(held) as journal:
        journal.append("a", b"1")
    left = writes
    real = objects.client

    class Failing:
        def __getattr__(self, name: str) -> object:
            nonlocal left
            if name.startswith(("put", "delete", "complete")):
                left -= 1
                if left < 0:
                    raise StorageUnavailable("gone")
            return getattr(real(), name)

    monkeypatch.setattr(objects, "client", Failing)
    new = tables_of(SHARD, "good day")
    try:
        store.commit(SHARD, new, held, 10, spec_hash="spec-2", input_hashes={}, summary=ShardSummary())
        broken = False
    except StorageUnavailable:
        broken = True
    monkeypatch.setattr(objects, "client", real)
    held.release()
    (planned,) = plan(store, SHARD, 10, "spec-2", reprocess="stale").shards
    if planned.state == "committed":
        assert store.read("notes").equals(new["notes"])
    elif planned.state == "stale":
        assert store.read("notes").equals(tables_of(SHARD)["notes"])
    else:
        assert broken
        assert store.read("notes").num_rows == 0
    with store.acquire(SHARD) as again, store.journal(again) as journal:
        assert journal.get("a") == b"1"
    with store.acquire(SHARD) as again:
        commit(store, SHARD, spec="spec-2", tables=new, lease=again)
    store.sweep()
    assert store.read("notes").equals(new["notes"])
    assert verify(store) == []


def test_a_shard_takes_few_requests(bucket: Store, place: ObjectPath) -> None:
    store = make_store(place)
    commit(store, NEXT)
    bucket.requests.clear()
    with store.acquire(SHARD) as held:
        with store.journal(held) as journal:
            for n in range(100):
                journal.append(str(n), b"x")
        commit(store, SHARD, lease=held)
    kinds: Mapping[str, int] = {kind: bucket.count(kind) for kind in ("PUT", "LIST", "GET", "HEAD", "POST", "DELETE")}
    assert sum(kinds.values()) == len(bucket.requests) <= 30, kinds
    assert kinds["PUT"] <= 8, kinds


def test_a_plan_asks_for_what_it_needs_all_at_once(bucket: Store, place: ObjectPath) -> None:
    store = make_store(place)
    commit(store, SHARD)
    record = store.manifest.record(SHARD)
    data = {table: files.read(store.layout.data_file(table, SHARD)) for table in store.tables}
    for start in range(10, 400, 10):
        shard = ShardRange(start, start + 10)
        for table, content in data.items():
            bucket.hold(store.layout.data_file(table, shard).key, content)  # type: ignore[union-attr, arg-type]
        entry = record.model_copy(update={"shard": shard}).model_dump_json().encode()
        bucket.hold(store.manifest.path(shard).key, entry)  # type: ignore[union-attr]
    bucket.requests.clear()
    found = plan(store, ShardRange(0, 400), 10, "spec-1")
    assert found.counts() == {"committed": 40}
    assert bucket.count("GET") == 40
    assert bucket.count("LIST") <= 8
    assert len(bucket.requests) <= 48


def test_a_root_that_lost_its_protocol_is_no_folder(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="s3: is no protocol known here"):
        make_store(Path("s3://bucket/prefix"))


def test_two_processes_that_race_for_leases_never_hold_one_together(place: ObjectPath) -> None:
    """Each takes and gives back the lease of one shard and marks the time it held it."""
    code = (
        "import json, sys, time\n"
        "from infra.shards.lease import LeaseHeld, acquire\n"
        "from infra.shards.location import location\n"
        "from infra.shards.ranges import ShardRange\n"
        "held = []\n"
        "while len(held) < 4:\n"
        "    try:\n"
        "        lease = acquire(location(sys.argv[1]), ShardRange(0, 10), ttl_s=30)\n"
        "    except LeaseHeld:\n"
        "        continue\n"
        "    start = time.monotonic()\n"
        "    time.sleep(0.01)\n"
        "    held.append((lease.token, start, time.monotonic()))\n"
        "    lease.release()\n"
        "print(json.dumps(held))\n"
    )
    command = [sys.executable, "-c", code, str(place / "lease")]
    running = [subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    turns = sorted(turn for process in running for turn in json.loads(process.communicate(timeout=60)[0]))
    assert len({token for token, _, _ in turns}) == 8
    assert all(before[2] <= after[1] for before, after in pairwise(turns))


def test_naming_a_stage_asks_for_nothing() -> None:
    store = make_store(ObjectPath("nowhere", "a"))
    assert str(store.layout.data_file("notes", SHARD)) == f"s3://nowhere/a/letters/notes/{SHARD.name}.parquet"
