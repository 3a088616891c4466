import os
from pathlib import Path

import pytest

from infra.shards.plan import Plan, Reprocess, State, plan
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tests.infra.shards.samples import NOTES, commit, make_store

WANTED = ShardRange(0, 50)
A, B, C, D, E = (ShardRange(start, start + 10) for start in range(0, 50, 10))


def begin(store: StageStore, shard: ShardRange) -> None:
    with store.acquire(shard) as lease, store.journal(lease) as journal:
        journal.append("a", b"1")


def states(found: Plan) -> dict[ShardRange, State]:
    return {planned.shard: planned.state for planned in found.shards}


@pytest.fixture
def mixed(tmp_path: Path) -> StageStore:
    """A committed, B stale, C begun, D lost, E never begun."""
    store = make_store(tmp_path)
    commit(store, A)
    commit(store, B, spec="old spec")
    begin(store, C)
    commit(store, D)
    store.layout.data_file("rejects", D).unlink()
    return store


@pytest.mark.parametrize(
    ("reprocess", "todo"),
    [
        ("missing", [D, E]),
        ("missing_and_failed", [C, D, E]),
        ("stale", [C, D, E, B]),
        ("all", [C, D, E, B, A]),
    ],
)
def test_each_choice_does_more_and_begun_shards_come_first(
    mixed: StageStore, reprocess: Reprocess, todo: list[ShardRange]
) -> None:
    found = plan(mixed, WANTED, 10, "spec-1", reprocess=reprocess)
    assert states(found) == {A: "committed", B: "stale", C: "open", D: "missing", E: "missing"}
    assert list(found.todo) == todo
    assert found.counts() == {"committed": 1, "stale": 1, "open": 1, "missing": 2}


def test_a_reason_is_given(mixed: StageStore) -> None:
    with mixed.layout.data_file("notes", A).open("ab") as file:
        file.write(b"!")
    reasons = {planned.shard: planned.reason for planned in plan(mixed, WANTED, 10, "spec-1").shards}
    size = mixed.manifest.record(A).files["notes"].bytes
    assert reasons[A] == f"notes/part-00000000-00000010.parquet has {size + 1} bytes, {size} were committed"
    assert reasons[B] == "made by spec old spec, now spec-1"
    assert reasons[D] == "rejects/part-00000030-00000040.parquet is gone"
    assert reasons[E] == ""


def test_a_plan_writes_nothing(mixed: StageStore, tmp_path: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")}
    plan(mixed, WANTED, 10, "spec-1", reprocess="all")
    assert {path: path.stat().st_mtime_ns for path in tmp_path.rglob("*")} == before


def test_the_input_of_each_shard_decides_for_itself(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    for shard in (A, B, C):
        commit(store, shard, inputs={"records": f"hash of {shard.name}"})
    changed = {A: {"records": f"hash of {A.name}"}, B: {"records": "another"}, C: {}}
    found = plan(store, ShardRange(0, 30), 10, "spec-1", lambda shard: changed[shard], "stale")
    assert states(found) == {A: "committed", B: "stale", C: "stale"}
    assert [planned.reason for planned in found.shards] == ["", *["input records has changed"] * 2]


def test_a_shard_that_somebody_works_on_is_left_to_them(mixed: StageStore) -> None:
    with mixed.acquire(C), mixed.acquire(B), mixed.acquire(A):
        found = plan(mixed, WANTED, 10, "spec-1", reprocess="stale")
        assert states(found) == {A: "committed", B: "held", C: "held", D: "missing", E: "missing"}
        assert list(found.todo) == [D, E]
        assert f"held by process {os.getpid()}" in found.shards[2].reason
    with mixed.acquire(ShardRange(32, 45)):
        found = plan(mixed, WANTED, 10, "spec-1")
        assert (states(found)[D], states(found)[E], list(found.todo)) == ("held", "held", [C])


def test_a_larger_count_and_another_size_leave_what_is_done_and_begun(mixed: StageStore) -> None:
    found = plan(mixed, ShardRange(0, 65), 25, "spec-1", reprocess="missing_and_failed")
    assert [planned.shard for planned in found.shards] == [A, B, C, D, ShardRange(40, 50), ShardRange(50, 65)]
    assert list(found.todo) == [C, D, ShardRange(40, 50), ShardRange(50, 65)]


def test_a_smaller_count_asks_for_no_more_than_itself(mixed: StageStore) -> None:
    found = plan(mixed, ShardRange(5, 25), 10, "spec-1")
    assert states(found) == {A: "committed", B: "stale", ShardRange(20, 25): "missing"}


def test_data_without_an_entry_are_done_again_under_the_same_name(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, C)
    store.manifest.remove(C)  # as a crash between rename and put leaves it
    assert states(plan(store, WANTED, 50, "spec-1"))[C] == "open"


def test_a_journal_left_beside_a_commit_does_not_undo_it(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    commit(store, A)
    begin(store, A)
    assert states(plan(store, A, 10, "spec-1")) == {A: "committed"}


def test_a_shard_that_lacks_a_new_table_is_stale(tmp_path: Path) -> None:
    commit(make_store(tmp_path), A)
    store = StageStore(tmp_path, "letters", "writing", {"notes": NOTES})
    found = plan(store, A, 10, "spec-1").shards[0]
    assert (found.state, found.reason) == ("stale", "has tables ['notes', 'rejects'], now ['notes']")
