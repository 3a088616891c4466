"""Synthesis at its edge: what a run is made of, what a shard worker does with it, and the Prefect task around that."""

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import exponential_backoff
from pydantic import BaseModel, ConfigDict, Field, JsonValue

from infra.llm.connect import EmbedderConfig, Endpoint, connect, connect_embedder, price_of
from infra.llm.prices import cost
from infra.llm.types import BackendUnavailable, Reply, Request, Usage
from infra.ray.job import WorkerContext
from infra.ray.keeper import KeeperUnavailable
from infra.ray.versions import versions_here
from infra.ray.worker import JobStopped, WorkerDied, WorkerPool
from infra.shards.heartbeat import heartbeat
from infra.shards.journal import Journal
from infra.shards.lease import LeaseHeld
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import LEASE_TTL_S, StageStore
from tasks.concurrency import map_bounded
from tasks.diversity.pool import Reservoir
from tasks.diversity.shared import SharedPool
from tasks.records import RECORDS, REJECTS
from tasks.synthesis.chain import Chain, MixedModel
from tasks.synthesis.config import SynthesisConfig
from tasks.synthesis.options import load_options
from tasks.synthesis.outcome import Record, Reject, tables
from tasks.synthesis.prompts import PROMPT_SHAS

logger = logging.getLogger(__name__)

STAGE = "records"
STAGE_VERSION = 1  # raise it when the code makes other rows of the same replies: finished shards become stale
TABLES = {"records": RECORDS, "rejects": REJECTS}

RETRIES = 3
POOL_VECTORS = 32_768  # read at the start of a run, from shards drawn at random: four times what the reservoir holds


class MixEntry(BaseModel):
    """A model of the mix, as it is served now."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    endpoint: Endpoint
    weight: float = Field(gt=0)
    repeat_penalty: float | None = None
    forbidden_characters: str = ""
    identity: dict[str, JsonValue] = Field(description="what makes its replies what they are; part of the spec hash")


class SynthesisJob(BaseModel):
    """All that a worker needs to make any shard of a run: small, and without secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    dataset: str
    seed: int
    config: SynthesisConfig
    models: tuple[MixEntry, ...] = Field(min_length=1)
    embedder: EmbedderConfig
    embedder_identity: str
    in_flight: int = Field(ge=1, description="records of one shard worked on at once")

    def store(self) -> StageStore:
        """Return where the records go."""
        return records_store(self.root, self.dataset)

    def spec_hash(self) -> str:
        """Fingerprint all that shapes the rows."""
        return spec_hash(
            self.config,
            {
                "seed": self.seed,
                "models": [entry.model_dump(exclude={"endpoint"}) for entry in self.models],
                "embedder": self.embedder_identity,
                "prompts": PROMPT_SHAS,
                "options": load_options().sha,
                "schemas": {name: str(schema) for name, schema in TABLES.items()},
                "stage_version": STAGE_VERSION,
            },
        )


@dataclass(frozen=True, slots=True)
class ShardReceipt:
    """What became of a shard: small enough for a dashboard, and without record text."""

    shard: str
    records: int
    filtered: int
    quarantined: int
    calls: int
    replayed: int
    tokens: Usage
    cost_usd: float


def records_store(root: Path, dataset: str) -> StageStore:
    """Return the store of a data set's records."""
    return StageStore(root, dataset, STAGE, TABLES, id_column="record_id")


def reservoir(root: Path, dataset: str, seed: int) -> Reservoir:
    """Start the diversity pool from what the data set has: shards drawn at random, or all where they are few."""
    store, pool = records_store(root, dataset), Reservoir(seed)
    shards = store.manifest.shards()
    for place in np.random.default_rng(seed).permutation(len(shards)):
        if pool.seen >= POOL_VECTORS:
            break
        vectors = store.read_shard("records", shards[place], ["embedding"])["embedding"].combine_chunks()
        if len(vectors):
            pool.add(np.asarray(vectors.flatten(), dtype=np.float32).reshape(len(vectors), -1))
    return pool


def _worth_another_try(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """Tell trouble that passes from faults that come back."""
    error = state.result(raise_on_failure=False)
    passes = isinstance(error, BackendUnavailable | KeeperUnavailable | WorkerDied | LeaseHeld)
    if passes and run.run_count <= RETRIES:
        logger.warning("%s: %s; trying again, %d of %d", run.name, error, run.run_count, RETRIES)
    return passes


@task(
    task_run_name="{shard}",
    retries=RETRIES,
    retry_delay_seconds=exponential_backoff(10),
    retry_condition_fn=_worth_another_try,
    cache_policy=NO_CACHE,  # a committed shard is its own cache: the plan leaves it out
)
def synthesize_shard(shard: str, job: SynthesisJob, pool: WorkerPool) -> ShardReceipt:
    """Make one shard on a worker and wait until it is committed."""
    return pool.submit(shard, partial(make_shard, job, ShardRange.parse(shard)))


async def make_shard(job: SynthesisJob, shard: ShardRange, context: WorkerContext) -> ShardReceipt:
    """Run the chain of every record of ``shard``, going on from its journal, and commit what they end in.

    Raises:
        LeaseHeld: another worker has the shard.
        BackendUnavailable: a model does not answer; what was answered is in the journal.
        JobStopped: the run was told to stop; what was in flight has ended.
    """
    store = job.store()
    with store.acquire(shard) as lease:
        async with heartbeat(lease, LEASE_TTL_S):
            with store.journal(lease) as journal:
                outcomes = await _outcomes(job, shard, context, journal)
            receipt = _receipt(shard, outcomes, journal.replayed)
            await asyncio.to_thread(
                store.commit,
                shard,
                tables(outcomes),
                lease,
                len(shard),
                spec_hash=job.spec_hash(),
                input_hashes={},
                summary=_summary(receipt, outcomes),
            )
    return receipt


async def _outcomes(
    job: SynthesisJob, shard: ShardRange, context: WorkerContext, journal: Journal
) -> list[Record | Reject]:
    chain = await _chain(job, context, journal)

    async def one(index: int) -> Record | Reject | None:
        if context.stopping.is_set():
            return None
        outcome = await chain.run(index)
        context.progress["records" if isinstance(outcome, Record) else outcome.outcome] += 1
        return outcome

    outcomes = await map_bounded(one, range(shard.start, shard.stop), job.in_flight)
    done = [outcome for outcome in outcomes if outcome is not None]
    if len(done) < len(outcomes):
        raise JobStopped(f"{shard.name}: stopped after {len(done)} of {len(shard)} records; run again and it goes on")
    return done


async def _chain(job: SynthesisJob, context: WorkerContext, journal: Journal) -> Chain:
    def count(request: Request, reply: Reply) -> None:
        context.progress["calls"] += 1
        context.progress["tokens"] += reply.usage.prompt + reply.usage.completion

    models = [
        MixedModel(
            await context.shared(entry.endpoint.model_dump_json(), partial(connect, entry.endpoint)),
            entry.weight,
            partial(cost, price=price_of(entry.endpoint)),
            entry.repeat_penalty,
            entry.forbidden_characters,
        )
        for entry in job.models
    ]
    embedder = await context.shared(job.embedder.model_dump_json(), partial(connect_embedder, job.embedder))
    return Chain(job.seed, job.config, models, embedder, SharedPool(context.keeper), journal, count)


def _receipt(shard: ShardRange, outcomes: Sequence[Record | Reject], replayed: int) -> ShardReceipt:
    kinds = Counter("records" if isinstance(each, Record) else each.outcome for each in outcomes)
    return ShardReceipt(
        shard=shard.name,
        records=kinds["records"],
        filtered=kinds["filtered"],
        quarantined=kinds["quarantined"],
        calls=sum(each.spent.calls for each in outcomes),
        replayed=replayed,
        tokens=sum((each.spent.tokens for each in outcomes), Usage()),
        cost_usd=sum(each.spent.cost_usd for each in outcomes),
    )


def _summary(receipt: ShardReceipt, outcomes: Sequence[Record | Reject]) -> ShardSummary:
    steps: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        for step, spent in outcome.spent.steps.items():
            steps.setdefault(step, Counter()).update({"calls": spent.calls, **asdict(spent.usage)})
    return ShardSummary(
        reasons=Counter(each.reason for each in outcomes if isinstance(each, Reject)),
        tokens=receipt.tokens,
        calls=receipt.calls,
        cost_usd=receipt.cost_usd,
        versions=versions_here(),
        notes={
            "records": receipt.records,
            "filtered": receipt.filtered,
            "quarantined": receipt.quarantined,
            "replayed": receipt.replayed,
            "steps": {step: dict(counts) for step, counts in sorted(steps.items())},
        },
    )
