"""Small runs against a simulator that the test owns, made in one process: the flow's jobs, no Prefect, no Ray."""

import asyncio
from dataclasses import dataclass
from typing import Any

from threadpoolctl import threadpool_limits

from flows.config import MixedEngine, Remote, RunConfig
from flows.engines import engines, job_of
from flows.synthesize import plan_run
from infra.engines.simulator.process import Simulator
from infra.llm.connect import Endpoint, OpenAIEmbedding
from infra.llm.prices import FREE
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.journal import read_events
from infra.shards.location import Location
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from infra.shards.verify import Finding, verify
from tasks.concurrency import map_bounded
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tasks.synthesis.steps import SynthesisJob, make_shard, records_store, reservoir


def run_on(simulator: Simulator, root: Location, *, timeout_s: float = 30, **changed: Any) -> RunConfig:
    """Describe a run of 24 short records in 3 shards, 8 records at a time, with one revision each."""
    endpoint: dict[str, Any] = {
        "model": simulator.model,
        "base_url": simulator.base_url,
        "api_key_env": None,
        "price": FREE,
        "request_timeout_s": timeout_s,
    }
    settings: dict[str, Any] = {
        "root": root,
        "dataset": "small",
        "records": 24,
        "shard_size": 8,
        "shards_each": 2,
        "in_flight": 4,
        "seed": 7,
        "synthesis": SynthesisConfig(words=100, refinement=RefinementConfig(steps=1)),
        "models": (MixedEngine(engine=Remote(**endpoint)),),
        "embedder": OpenAIEmbedding(endpoint=Endpoint(**endpoint), dimension=simulator.dimension),
    }
    return RunConfig(**settings | changed)


def make(run: RunConfig) -> None:
    """Make what ``run`` wants and its data set lacks, as the command does: sweep, plan, make."""
    store_of(run).sweep()
    todo = plan_run(run, "missing_and_failed").todo
    with engines(run) as served, threadpool_limits(1):  # as Ray has it in a worker of one CPU
        asyncio.run(_make(job_of(run, served), todo, run.shards_each))


async def _make(job: SynthesisJob, shards: tuple[ShardRange, ...], at_once: int) -> None:
    shared = Shared()
    keeper = LocalKeeper(reservoir(job.root, job.dataset, job.seed))

    async def one(shard: ShardRange) -> None:
        await make_shard(job, shard, WorkerContext(keeper, _shared=shared))

    try:
        await map_bounded(one, shards, at_once)
    finally:
        await shared.close()


def store_of(run: RunConfig) -> StageStore:
    return records_store(run.root, run.dataset)


def rows_of(run: RunConfig) -> dict[str, dict[str, Any]]:
    """Return every row, of records and rejects, by its id.

    Raises:
        AssertionError: an id stands twice.
    """
    store = store_of(run)
    rows = [row for table in store.tables for row in store.read(table).to_pylist()]
    by_id = {row["record_id"]: row for row in rows}
    assert len(by_id) == len(rows), "an id stands twice"
    return by_id


def findings_of(run: RunConfig) -> list[Finding]:
    """Return what is wrong with a data set; a temporary lease stays for a minute, for it could be a rival's."""
    store = store_of(run)
    return [finding for finding in verify(store) if finding.path.parent != store.layout.lease]


@dataclass(frozen=True)
class Past:
    """What the journals of a data set hold."""

    calls: int
    vectors: int
    decisions: int

    @property
    def requests(self) -> int:
        """Answers that a server gave."""
        return self.calls + self.vectors


def past_of(run: RunConfig, dimension: int) -> Past:
    """Count the events in all journals: replies are JSON objects, decisions JSON arrays, vectors bytes."""
    layout = store_of(run).layout
    journals = [*layout.open_journals(), *layout.archives()]
    events = {key: body for _, path in journals for key, body in read_events(path).items()}  # a kill may leave both
    bodies = list(events.values())
    vectors = sum(len(body) == 4 * dimension for body in bodies)
    decisions = sum(len(body) != 4 * dimension and body.startswith(b"[") for body in bodies)
    return Past(len(bodies) - vectors - decisions, vectors, decisions)
