"""Rejected rows asked again: by the simulator, which gets a third of all calls wrong; without Prefect and Ray."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from flows.config import MixedEngine, RunConfig, Simulated, SimulatedEmbedding
from flows.engines import Served, engines, job_of
from flows.sanitize import plan_sanitization, sanitization_job
from flows.synthesize import plan_run
from infra.engines.simulator.config import CONTENT_FAULTS
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.ray.worker import JobStopped
from infra.shards.lease import LeaseHeld
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.diversity.pool import Reservoir
from tasks.events import rounds_of
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.steps import make_triplets
from tasks.shards.retrying.choice import NotCurrent, NothingToAsk, Wanted
from tasks.shards.retrying.steps import RetryJob, RetryReceipt, retry_rows
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tasks.synthesis.steps import SynthesisJob, make_shard

SHARD = ShardRange(0, 12)


def run_at(root: Path, **changed: Any) -> RunConfig:
    """One shard whose rows are given up after a single attempt; without a pool, in which rows come as they are done."""
    engine = Simulated(fault_rate=0.06, faults=CONTENT_FAULTS)
    settings: dict[str, Any] = {
        "root": root,
        "dataset": "tried",
        "records": 12,
        "shard_size": 12,
        "in_flight": 4,
        "synthesis": SynthesisConfig(words=80, attempts=1, refinement=RefinementConfig(steps=1, diversity=False)),
        "sanitization": SanitizationConfig(attempts=1),
        "models": (MixedEngine(engine=engine),),
        "embedder": SimulatedEmbedding(),
    }
    return RunConfig(**settings | changed)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with engines(run_at(tmp_path_factory.mktemp("none"))) as running:
        yield running


async def work(*jobs: Any) -> list[Any]:
    shared = Shared()
    context = WorkerContext(LocalKeeper(Reservoir(1)), _shared=shared)
    try:
        return [await job(context) for job in jobs]
    finally:
        await shared.close()


def made(job: SynthesisJob) -> StageStore:
    asyncio.run(work(lambda context: make_shard(job, SHARD, context)))
    return job.store()


def retry(job: RetryJob, wanted: Wanted = Wanted()) -> RetryReceipt:  # noqa: B008 - frozen
    (receipt,) = asyncio.run(work(lambda context: retry_rows(job, SHARD, wanted, context)))
    assert isinstance(receipt, RetryReceipt)
    return receipt


def rows(store: StageStore) -> dict[str, list[dict[str, Any]]]:
    return {table: store.read(table).to_pylist() for table in store.tables}


def test_rows_that_pass_move_to_the_records_and_no_other_row_changes(served: Served, tmp_path: Path) -> None:
    job = job_of(run_at(tmp_path), served)
    store = made(job)
    before = rows(store)
    assert 3 <= len(before["rejects"]) < 12
    receipt = retry(job)
    after = rows(store)
    quarantined = [row["record_id"] for row in before["rejects"] if row["outcome"] == "quarantined"]
    assert receipt.asked == len(quarantined)
    assert receipt.passed == len(after["records"]) - len(before["records"]) > 0
    assert len(after["records"]) + len(after["rejects"]) == 12
    stays = {row["record_id"]: row for row in after["records"]}
    assert all(stays[row["record_id"]] == row for row in before["records"])
    assert [row["index"] for row in after["records"]] == sorted(row["index"] for row in after["records"])


def test_the_manifest_counts_what_the_rows_say(served: Served, tmp_path: Path) -> None:
    job = job_of(run_at(tmp_path), served)
    store = made(job)
    was = store.manifest.record(SHARD)
    receipt = retry(job)
    now = store.manifest.record(SHARD)
    after = rows(store)
    both = after["records"] + after["rejects"]
    assert now.spec_hash == was.spec_hash
    assert now.rows == 12
    assert now.summary.calls == sum(row["calls"] for row in both) > was.summary.calls
    assert now.summary.tokens.prompt == sum(row["tokens"]["prompt"] for row in both)
    assert sum(now.summary.reasons.values()) == len(after["rejects"])
    notes: dict[str, Any] = dict(now.summary.notes)
    assert sum(step["calls"] for step in notes["steps"].values()) == now.summary.calls
    answered = [line for line in notes["spending"] if not line["step"].startswith("(")]
    assert sum(line["calls"] for line in answered) == now.summary.calls
    assert sum(sum(step["seconds"]["counts"]) for step in notes["histograms"]["steps"]) == now.summary.calls
    assert notes["records"] == len(after["records"])
    assert set(notes["again"].values()) == {1}
    assert receipt.shard.calls > 0


def test_the_shard_made_again_from_its_journal_comes_to_the_same_rows(served: Served, tmp_path: Path) -> None:
    job = job_of(run_at(tmp_path), served)
    store = made(job)
    retry(job)
    kept = {table: file.sha256 for table, file in store.manifest.record(SHARD).files.items()}
    (receipt,) = asyncio.run(work(lambda context: make_shard(job, SHARD, context)))
    assert {table: file.sha256 for table, file in store.manifest.record(SHARD).files.items()} == kept
    assert receipt.replayed > 0
    assert receipt.failed_tries == 0


def test_a_row_asked_again_and_again_passes_at_last(served: Served, tmp_path: Path) -> None:
    job = job_of(run_at(tmp_path), served)
    store = made(job)
    for _ in range(12):
        if not store.read("rejects").num_rows:
            break
        try:
            retry(job, Wanted(outcomes=("quarantined", "filtered")))
        except NothingToAsk:
            break
    left = store.read("rejects").to_pylist()
    assert all(row["calls"] == 0 for row in left)  # decided by the draws, before anybody was asked


def test_a_killed_retry_is_gone_on_with_and_grants_no_round_twice(served: Served, tmp_path: Path) -> None:
    job = job_of(run_at(tmp_path), served)
    store = made(job)
    was = store.manifest.record(SHARD)
    stopped = asyncio.Event()
    stopped.set()  # the marks are set, and nothing is asked

    async def stop(context: WorkerContext) -> RetryReceipt:
        return await retry_rows(job, SHARD, Wanted(), replace(context, stopping=stopped))

    with pytest.raises(JobStopped, match="stopped after 0"):
        asyncio.run(work(stop))
    assert store.manifest.record(SHARD) == was
    ids = {row["record_id"] for row in rows(store)["rejects"] if row["outcome"] == "quarantined"}
    retry(job)
    assert store.manifest.record(SHARD).summary.notes["again"] == dict.fromkeys(ids, 1)
    with store.acquire(SHARD) as lease, store.journal(lease) as journal:
        assert {rounds_of(journal, name).total() for name in ids} == {1}


def test_only_what_is_named_is_asked(served: Served, tmp_path: Path) -> None:
    job = job_of(run_at(tmp_path), served)
    store = made(job)
    one, *_ = [row for row in rows(store)["rejects"] if row["outcome"] == "quarantined"]
    assert retry(job, Wanted(ids=(one["record_id"],))).asked == 1
    with pytest.raises(NothingToAsk, match="part-00000000-00000012"):
        retry(job, Wanted(reasons=("nothing of that name",)))


def test_a_shard_of_other_settings_is_not_touched(served: Served, tmp_path: Path) -> None:
    store = made(job_of(run_at(tmp_path), served))
    was = store.manifest.record(SHARD)
    other = job_of(run_at(tmp_path, seed=2), served)
    with pytest.raises(NotCurrent, match="--reprocess stale"):
        retry(other)
    assert store.manifest.record(SHARD) == was


def test_a_shard_that_another_worker_has_is_not_touched(served: Served, tmp_path: Path) -> None:
    job = job_of(run_at(tmp_path), served)
    with made(job).acquire(SHARD), pytest.raises(LeaseHeld):
        retry(job)


def test_triplets_are_retried_too_and_those_of_retried_records_become_stale(served: Served, tmp_path: Path) -> None:
    run = run_at(tmp_path)
    job = job_of(run, served)
    made(job)
    triplets = sanitization_job(run, served.models)
    asyncio.run(work(lambda context: make_triplets(triplets, SHARD, context)))
    before = rows(triplets.store())
    assert before["triplet_rejects"]
    receipt = retry(triplets, Wanted(outcomes=("quarantined", "filtered")))
    after = rows(triplets.store())
    assert len(after["triplets"]) == len(before["triplets"]) + receipt.passed
    assert sum(map(len, after.values())) == sum(map(len, before.values()))
    (entry,) = triplets.store().manifest.records().values()
    assert entry.summary.notes["verified"] == sum(row["verified"] for row in after["triplets"])
    assert {each.state for each in plan_sanitization(run, "stale").shards} == {"committed"}
    assert any(retry(job).passed for _ in range(5))
    assert {each.state for each in plan_sanitization(run, "stale").shards} == {"stale"}
    assert {each.state for each in plan_run(run, "stale").shards} == {"committed"}
    with pytest.raises(NotCurrent):
        retry(triplets)
