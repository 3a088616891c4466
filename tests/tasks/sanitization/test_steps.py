"""Shards of triplets: committed once, resumed from their journal, stale exactly when what they read changes."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from flows.config import RunConfig
from flows.sanitize import plan_sanitization, planned_sanitization
from infra.llm.types import BackendUnavailable, Request
from infra.ray.job import WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.ray.worker import JobStopped
from infra.shards.plan import Reprocess
from infra.shards.ranges import ShardRange
from infra.shards.verify import verify
from tasks.diversity.pool import Reservoir
from tasks.sanitization.prompts import APPLY
from tests.tasks.sanitization.records import LETTER
from tests.tasks.sanitization.script import honest
from tests.tasks.sanitization.shards import FIRST, SECOND, commit_records, made
from tests.tasks.synthesis.script import Answer


@pytest.fixture
def run(tmp_path: Path) -> RunConfig:
    """A data set of two record shards of another size than the run's own."""
    for shard in (FIRST, SECOND):
        commit_records(tmp_path, shard)
    return RunConfig(dataset="tiny", root=tmp_path, seed=7, in_flight=2)


def states(run: RunConfig, reprocess: Reprocess = "stale") -> dict[ShardRange, str]:
    return {planned.shard: planned.state for planned in plan_sanitization(run, reprocess).shards}


def rows(run: RunConfig, shard: ShardRange) -> dict[str, list[dict[str, Any]]]:
    store = planned_sanitization(run).store()
    return {table: store.read_shard(table, shard).to_pylist() for table in store.tables}


async def test_a_shard_of_triplets_has_a_row_for_every_record_of_its_record_shard(run: RunConfig) -> None:
    assert states(run) == {FIRST: "missing", SECOND: "missing"}
    receipt, backend = await made(run, FIRST)
    assert (receipt.records, receipt.filtered, receipt.quarantined) == (2, 0, 0)
    assert receipt.calls == len(backend.requests)
    found = rows(run, FIRST)
    assert [row["index"] for row in found["triplets"]] == [0, 1]
    assert found["triplet_rejects"] == []
    assert all(row["verified"] and row["text"] == LETTER != row["sanitized"] for row in found["triplets"])
    assert states(run) == {FIRST: "committed", SECOND: "missing"}
    assert verify(planned_sanitization(run).store()) == []
    assert verify(planned_sanitization(run).records()) == []


async def test_a_record_that_fails_is_a_row_of_the_rejects_and_counted_by_its_reason(run: RunConfig) -> None:
    def answer(request: Request) -> Answer:
        return "" if request.tags["record_id"].endswith("1") else honest(request)

    receipt, _ = await made(run, FIRST, answer)
    assert (receipt.records, receipt.quarantined) == (1, 1)
    (row,) = rows(run, FIRST)["triplet_rejects"]
    assert (row["index"], row["outcome"], row["step"], row["reason"]) == (1, "quarantined", "weights", "empty_reply")
    summary = planned_sanitization(run).store().manifest.record(FIRST).summary
    assert summary.reasons == {"empty_reply": 1}
    assert summary.notes["verified"] == 1


async def test_a_shard_cut_off_goes_on_from_its_journal_and_pays_nothing_twice(run: RunConfig) -> None:
    paid = iter(range(9))

    def failing(request: Request) -> Answer:
        return honest(request) if next(paid, None) is not None else BackendUnavailable("gone")

    with pytest.raises(BackendUnavailable):
        await made(run, FIRST, failing)
    assert states(run)[FIRST] == "open"
    receipt, rest = await made(run, FIRST)
    assert receipt.replayed == 9
    assert receipt.calls == len(rest.requests) + 9
    asked_for = [(request.tags["record_id"], request.tags["step"]) for request in rest.requests]
    assert len(asked_for) == len(set(asked_for))


async def test_a_finished_shard_made_again_asks_nothing(run: RunConfig) -> None:
    await made(run, FIRST)
    before = rows(run, FIRST)
    receipt, backend = await made(run, FIRST, lambda _: AssertionError("asked again"))
    assert backend.requests == []
    assert receipt.replayed == receipt.calls
    assert rows(run, FIRST) == before


async def test_a_changed_record_shard_makes_exactly_its_descendant_stale(run: RunConfig) -> None:
    for shard in (FIRST, SECOND):
        await made(run, shard)
    commit_records(run.root, SECOND)  # the same rows: nothing has changed
    assert states(run) == {FIRST: "committed", SECOND: "committed"}
    commit_records(run.root, SECOND, LETTER.replace("swollen", "sore"))
    assert states(run) == {FIRST: "committed", SECOND: "stale"}
    assert plan_sanitization(run, "missing_and_failed").todo == ()
    assert plan_sanitization(run, "stale").todo == (SECOND,)
    await made(run, SECOND)
    assert "sore" in rows(run, SECOND)["triplets"][0]["sanitized"]
    assert states(run) == {FIRST: "committed", SECOND: "committed"}


async def test_a_changed_prompt_or_setting_makes_every_shard_stale_and_other_settings_none(
    run: RunConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    await made(run, FIRST)
    other = run.sanitization.model_copy(update={"chunk_characters": 256})
    assert states(run.model_copy(update={"sanitization": other}))[FIRST] == "stale"
    longer = run.synthesis.model_copy(update={"words": 300})
    assert states(run.model_copy(update={"synthesis": longer, "in_flight": 9, "workers": 3}))[FIRST] == "committed"
    monkeypatch.setattr("tasks.sanitization.steps.PROMPT_SHAS", {"apply": APPLY.sha[::-1]})
    assert states(run)[FIRST] == "stale"


async def test_a_run_told_to_stop_commits_nothing_and_says_so(run: RunConfig) -> None:
    context = WorkerContext(LocalKeeper(Reservoir(0)), stopping=asyncio.Event())

    def stopping(request: Request) -> Answer:
        context.stopping.set()
        return honest(request)

    with pytest.raises(JobStopped, match="run again"):
        await made(run.model_copy(update={"in_flight": 1}), FIRST, stopping, context)
    assert states(run)[FIRST] == "open"


async def test_a_record_shard_that_is_not_finished_is_not_sanitized(run: RunConfig) -> None:
    with pytest.raises(KeyError, match="not committed"):
        await made(run, ShardRange(5, 9))
    assert ShardRange(5, 9) not in states(run)
