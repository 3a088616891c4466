"""The records of a small run sanitized against a simulator that the test owns, in one process: no Prefect, no Ray."""

import asyncio
from typing import Any

from flows.config import RunConfig
from flows.engines import engines
from flows.sanitize import plan_sanitization, planned_sanitization, sanitization_job
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.journal import read_events
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from infra.shards.verify import Finding, verify
from tasks.concurrency import map_bounded
from tasks.diversity.pool import Reservoir
from tasks.sanitization.steps import SanitizationJob, make_triplets


def sanitize(run: RunConfig) -> None:
    """Sanitize what is finished and not yet sanitized, as the command does: sweep, plan, make."""
    triplets_of(run).sweep()
    todo = plan_sanitization(run, "missing_and_failed").todo
    with engines(run) as served:
        asyncio.run(_sanitize(sanitization_job(run, served.models), todo, run.shards_each))


async def _sanitize(job: SanitizationJob, todo: tuple[ShardRange, ...], at_once: int) -> None:
    shared = Shared()
    context = WorkerContext(LocalKeeper(Reservoir(job.seed)), _shared=shared)

    async def one(shard: ShardRange) -> None:
        await make_triplets(job, shard, context)

    try:
        await map_bounded(one, todo, at_once)
    finally:
        await shared.close()


def triplets_of(run: RunConfig) -> StageStore:
    return planned_sanitization(run).store()


def outcomes_of(run: RunConfig) -> dict[str, dict[str, Any]]:
    """Return every row, of triplets and rejects, by its id.

    Raises:
        AssertionError: an id stands twice.
    """
    store = triplets_of(run)
    rows = [row for table in store.tables for row in store.read(table).to_pylist()]
    by_id = {row["record_id"]: row for row in rows}
    assert len(by_id) == len(rows), "an id stands twice"
    return by_id


def faults_of(run: RunConfig) -> list[Finding]:
    """Return what is wrong with the triplets; a temporary lease stays for a minute, for it could be a rival's."""
    store = triplets_of(run)
    return [finding for finding in verify(store) if finding.path.parent != store.layout.lease]


def replies_of(run: RunConfig) -> int:
    """Count the replies in all journals; a process killed while it archives one leaves both."""
    layout = triplets_of(run).layout
    return len({key for _, path in (*layout.open_journals(), *layout.archives()) for key in read_events(path)})
