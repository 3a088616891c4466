"""Sanitization at its edge: what a run is made of, what a shard worker does, and the Prefect task around that."""

import asyncio
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from prefect import Task, task
from prefect.cache_policies import NO_CACHE
from prefect.client.schemas.objects import State, TaskRun
from prefect.tasks import exponential_backoff
from pydantic import BaseModel, ConfigDict, Field

from infra.llm.connect import connect, price_of
from infra.llm.prices import cost
from infra.llm.types import BackendUnavailable, Reply, Request, Usage
from infra.ray.job import WorkerContext
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
from tasks.records import REJECTS, TRIPLETS
from tasks.sanitization.chain import SanitizationChain
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.outcome import Triplet, tables
from tasks.sanitization.prompts import PROMPT_SHAS
from tasks.sanitization.source import COLUMNS, Source
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.outcome import Reject
from tasks.synthesis.steps import MixEntry, ShardReceipt, records_store

logger = logging.getLogger(__name__)

STAGE = "triplets"
STAGE_VERSION = 1  # raise it when the code makes other rows of the same replies: finished shards become stale
TABLES = {"triplets": TRIPLETS, "triplet_rejects": REJECTS}

RETRIES = 3


class SanitizationJob(BaseModel):
    """All that a worker needs to sanitize any shard of a run: small, and without secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Path
    dataset: str
    seed: int
    config: SanitizationConfig
    models: tuple[MixEntry, ...] = Field(min_length=1)
    in_flight: int = Field(ge=1, description="records of one shard worked on at once")

    def records(self) -> StageStore:
        """Return where the records come from."""
        return records_store(self.root, self.dataset)

    def store(self) -> StageStore:
        """Return where the triplets go: beside the records."""
        return triplets_store(self.root, self.dataset)

    def spec_hash(self) -> str:
        """Fingerprint all that shapes the rows but the records: their hashes stand beside it."""
        return spec_hash(
            self.config,
            {
                "seed": self.seed,
                "models": [entry.model_dump(exclude={"endpoint"}) for entry in self.models],
                "prompts": PROMPT_SHAS,
                "schemas": {name: str(schema) for name, schema in TABLES.items()},
                "stage_version": STAGE_VERSION,
            },
        )


def triplets_store(root: Path, dataset: str) -> StageStore:
    """Return the store of a data set's triplets."""
    return StageStore(root, dataset, STAGE, TABLES, id_column="record_id")


def input_hashes(records: StageStore, shard: ShardRange) -> Mapping[str, str]:
    """Return what the shard of triplets over the record shard ``shard`` reads: name -> content hash.

    Raises:
        KeyError: the record shard is not committed.
    """
    return {"records": records.manifest.record(shard).files["records"].sha256}


def _worth_another_try(task: Task[..., Any], run: TaskRun, state: State[Any]) -> bool:
    """Tell trouble that passes from faults that come back."""
    error = state.result(raise_on_failure=False)
    passes = isinstance(error, BackendUnavailable | WorkerDied | LeaseHeld)
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
def sanitize_shard(shard: str, job: SanitizationJob, pool: WorkerPool) -> ShardReceipt:
    """Sanitize one record shard on a worker and wait until it is committed."""
    return pool.submit(shard, partial(make_triplets, job, ShardRange.parse(shard)))


async def make_triplets(job: SanitizationJob, shard: ShardRange, context: WorkerContext) -> ShardReceipt:
    """Run the chain of every record in the record shard ``shard``, going on from its journal, and commit the outcomes.

    Raises:
        KeyError: the record shard is not committed.
        LeaseHeld: another worker has the shard.
        BackendUnavailable: a model does not answer; what was answered is in the journal.
        JobStopped: the run was told to stop; what was in flight has ended.
    """
    store, records = job.store(), job.records()
    with store.acquire(shard) as lease:
        async with heartbeat(lease, LEASE_TTL_S):
            # The hash before the rows: were they replaced in between, the shard would be made again, never believed.
            inputs = input_hashes(records, shard)
            rows = await asyncio.to_thread(records.read_shard, "records", shard, list(COLUMNS))
            sources = [Source.of_row(row) for row in rows.to_pylist()]
            with store.journal(lease) as journal:
                outcomes = await _outcomes(job, shard, sources, context, journal)
            receipt = _receipt(shard, outcomes, journal.replayed)
            await asyncio.to_thread(
                store.commit,
                shard,
                tables(outcomes),
                lease,
                len(sources),
                spec_hash=job.spec_hash(),
                input_hashes=inputs,
                summary=_summary(receipt, outcomes),
            )
    return receipt


async def _outcomes(
    job: SanitizationJob, shard: ShardRange, sources: Sequence[Source], context: WorkerContext, journal: Journal
) -> list[Triplet | Reject]:
    chain = await _chain(job, context, journal)

    async def one(source: Source) -> Triplet | Reject | None:
        if context.stopping.is_set():
            return None
        outcome = await chain.run(source)
        context.progress["records" if isinstance(outcome, Triplet) else outcome.outcome] += 1
        return outcome

    outcomes = await map_bounded(one, sources, job.in_flight)
    done = [outcome for outcome in outcomes if outcome is not None]
    if len(done) < len(outcomes):
        raise JobStopped(f"{shard.name}: stopped after {len(done)} of {len(sources)} records; run again and it goes on")
    return done


async def _chain(job: SanitizationJob, context: WorkerContext, journal: Journal) -> SanitizationChain:
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
    return SanitizationChain(job.seed, job.config, models, journal, count)


def _receipt(shard: ShardRange, outcomes: Sequence[Triplet | Reject], replayed: int) -> ShardReceipt:
    kinds = Counter("triplets" if isinstance(each, Triplet) else each.outcome for each in outcomes)
    return ShardReceipt(
        shard=shard.name,
        records=kinds["triplets"],
        filtered=kinds["filtered"],
        quarantined=kinds["quarantined"],
        calls=sum(each.spent.calls for each in outcomes),
        replayed=replayed,
        tokens=sum((each.spent.tokens for each in outcomes), Usage()),
        cost_usd=sum(each.spent.cost_usd for each in outcomes),
    )


def _summary(receipt: ShardReceipt, outcomes: Sequence[Triplet | Reject]) -> ShardSummary:
    steps: dict[str, Counter[str]] = {}
    for outcome in outcomes:
        for step, spent in outcome.spent.steps.items():
            kind = step.partition("-")[0]  # the rest numbers target and chunk
            steps.setdefault(kind, Counter()).update({"calls": spent.calls, **asdict(spent.usage)})
    return ShardSummary(
        reasons=Counter(each.reason for each in outcomes if isinstance(each, Reject)),
        tokens=receipt.tokens,
        calls=receipt.calls,
        cost_usd=receipt.cost_usd,
        versions=versions_here(),
        notes={
            "triplets": receipt.records,
            "verified": sum(isinstance(each, Triplet) and not each.leaks for each in outcomes),
            "filtered": receipt.filtered,
            "quarantined": receipt.quarantined,
            "replayed": receipt.replayed,
            "steps": {step: dict(counts) for step, counts in sorted(steps.items())},
        },
    )
