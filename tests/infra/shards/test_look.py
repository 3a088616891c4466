from collections.abc import Mapping
from pathlib import Path

import pytest

from infra.shards import files
from infra.shards.location import Location, ObjectPath
from infra.shards.look import one_look
from infra.shards.plan import plan, plan_over
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tests.infra.shards.object_store import BUCKET, Store
from tests.infra.shards.samples import commit, make_store

SHARDS = [ShardRange(start, start + 10) for start in range(0, 120, 10)]


@pytest.fixture
def source(bucket: Store, tmp_path: Path) -> StageStore:
    """A stage with twelve entries, put there without a request."""
    store = make_store(ObjectPath(BUCKET, tmp_path.name))
    commit(store, SHARDS[0])
    record = store.manifest.record(SHARDS[0])
    for shard in SHARDS[1:]:
        for table in store.tables:
            data = files.read(store.layout.data_file(table, SHARDS[0]))
            assert data is not None
            bucket.hold(key(store.layout.data_file(table, shard)), data)
        entry = record.model_copy(update={"shard": shard}).model_dump_json().encode()
        bucket.hold(key(store.manifest.path(shard)), entry)
    bucket.requests.clear()
    return store


def reads(bucket: Store, store: StageStore) -> int:
    return bucket.count(f"GET /{BUCKET}/{key(store.manifest.directory)}/")


def key(place: Location) -> str:
    assert isinstance(place, ObjectPath)
    return place.key


def test_three_plans_read_each_entry_once(bucket: Store, source: StageStore) -> None:
    for _ in range(3):
        assert plan(source, ShardRange(0, 120), 10, "spec-1").counts() == {"committed": 12}
    assert reads(bucket, source) == 12


def test_a_plan_over_another_stage_does_not_read_that_entry_by_entry_again(bucket: Store, source: StageStore) -> None:
    """It asks for the hash of each shard it would read, as the stages do."""

    def hashes(shard: ShardRange) -> Mapping[str, str]:
        return {"notes": source.manifest.record(shard).files["notes"].sha256}

    target = make_store(source.layout.manifest.parent.parent / "over")
    for shard in SHARDS[:5]:
        commit(target, shard, inputs=hashes(shard))
    bucket.requests.clear()
    for _ in range(3):
        planned = plan_over(target, source.manifest.shards(), "spec-1", hashes)
        assert planned.counts() == {"committed": 5, "missing": 7}
    assert (reads(bucket, target), reads(bucket, source)) == (5, 5)  # those there, and those they were made of
    assert bucket.count(f"LIST {key(source.manifest.directory)}/") == 6  # by each plan, and by us for each


def test_an_entry_that_was_replaced_is_read_again_and_no_other(bucket: Store, source: StageStore) -> None:
    plan(source, ShardRange(0, 120), 10, "spec-1")
    commit(source, SHARDS[3], spec="spec-2")
    bucket.requests.clear()
    assert plan(source, ShardRange(0, 120), 10, "spec-1", reprocess="stale").todo == (SHARDS[3],)
    assert reads(bucket, source) == 1


def test_an_entry_that_was_removed_is_missing(source: StageStore) -> None:
    plan(source, ShardRange(0, 120), 10, "spec-1")
    source.manifest.remove(SHARDS[3])
    assert plan(source, ShardRange(0, 120), 10, "spec-1").todo == (SHARDS[3],)


def test_within_a_look_entries_stay_as_they_were_seen_and_after_it_they_are_new(source: StageStore) -> None:
    with one_look():
        assert source.manifest.record(SHARDS[0]).spec_hash == "spec-1"
        source.manifest.remove(SHARDS[0])
        assert source.manifest.record(SHARDS[0]).spec_hash == "spec-1"
        with pytest.raises(KeyError):
            source.manifest.record_now(SHARDS[0])
    with pytest.raises(KeyError):
        source.manifest.record(SHARDS[0])
