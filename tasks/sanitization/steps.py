"""Sanitization at its edge: what a run is made of, what a shard worker does, and the Prefect task around that."""

import asyncio
from collections.abc import Callable, Mapping
from functools import partial

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff
from pydantic import BaseModel, ConfigDict, Field

from infra.events import shard_committed
from infra.llm.types import Reply, Request
from infra.ray.job import WorkerContext
from infra.ray.worker import WorkerPool
from infra.shards.failures import Attempt
from infra.shards.heartbeat import heartbeat
from infra.shards.location import Location
from infra.shards.off_loop import off_loop
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import LEASE_TTL_S, StageStore
from tasks.events import EventLog
from tasks.records import REJECTS, TRIPLETS
from tasks.sanitization.chain import SanitizationChain
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.outcome import Triplet, tables
from tasks.sanitization.prompts import PROMPT_SHAS
from tasks.sanitization.source import COLUMNS, Source
from tasks.shards.mix import surviving
from tasks.shards.spreads import Spreads
from tasks.shards.steps import (
    PASSING,
    RETRIES,
    SHARD,
    MixEntry,
    ShardReceipt,
    counted,
    mixed_models,
    outcomes_of,
    receipt_of,
    summary_of,
    worth_another_try,
)
from tasks.synthesis.steps import records_store

STAGE = "triplets"
STAGE_VERSION = 3  # raise it when the code makes other rows of the same replies: finished shards become stale
TABLES = {"triplets": TRIPLETS, "triplet_rejects": REJECTS}


class SanitizationJob(BaseModel):
    """All that a worker needs to sanitize any shard of a run: small, and without secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Location
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


def triplets_store(root: Location, dataset: str) -> StageStore:
    """Return the store of a data set's triplets."""
    return StageStore(root, dataset, STAGE, TABLES, id_column="record_id")


def input_hashes(records: StageStore, shard: ShardRange) -> Mapping[str, str]:
    """Return what the shard of triplets over the record shard ``shard`` reads: name -> content hash.

    Raises:
        KeyError: the record shard is not committed.
    """
    return {"records": records.manifest.record(shard).files["records"].sha256}


@task(
    task_run_name="{shard}",
    tags=[SHARD],
    retries=RETRIES,
    retry_delay_seconds=exponential_backoff(10),
    retry_condition_fn=worth_another_try,
    cache_policy=NO_CACHE,  # a committed shard is its own cache: the plan leaves it out
)
def sanitize_shard(shard: str, job: SanitizationJob, pool: WorkerPool) -> ShardReceipt:
    """Sanitize one record shard on a worker and wait until it is committed."""
    part = ShardRange.parse(shard)
    with Attempt(job.store().layout, part, PASSING):
        receipt = pool.submit(shard, partial(make_triplets, job, part))
    shard_committed(job.store(), part)
    return receipt


async def make_triplets(job: SanitizationJob, shard: ShardRange, context: WorkerContext) -> ShardReceipt:
    """Run the chain of every record in the record shard ``shard``, going on from its journal, and commit the outcomes.

    Raises:
        KeyError: the record shard is not committed.
        LeaseHeld: another worker has the shard.
        BackendUnavailable: a model does not answer; what was answered is in the journal.
        JobStopped: the run was told to stop; what was in flight has ended.
    """
    store, records, spreads = job.store(), job.records(), Spreads()
    async with off_loop(partial(store.acquire, shard)) as lease, heartbeat(lease, LEASE_TTL_S):
        # The hash before the rows: were they replaced in between, the shard would be made again, never believed.
        inputs = await asyncio.to_thread(input_hashes, records, shard)
        rows = await asyncio.to_thread(records.read_shard, "records", shard, list(COLUMNS))
        sources = [Source.of_row(row) for row in rows.to_pylist()]
        async with off_loop(partial(store.journal, lease)) as journal:
            chain = await chain_of(job, context, journal, counted(context, spreads))
            outcomes = await outcomes_of(shard, sources, surviving(chain.models, chain.run), context, job.in_flight)
        receipt = receipt_of(shard, outcomes, journal.replayed)
        await asyncio.to_thread(
            store.commit,
            shard,
            tables(outcomes),
            lease,
            len(sources),
            spec_hash=job.spec_hash(),
            input_hashes=inputs,
            summary=summary_of(
                receipt,
                outcomes,
                step_kind=lambda step: step.partition("-")[0],  # the rest numbers target and chunk
                triplets=receipt.records,
                histograms=spreads.to_json(),
                verified=sum(isinstance(each, Triplet) and not each.leaks for each in outcomes),
            ),
        )
    return receipt


async def chain_of(
    job: SanitizationJob, context: WorkerContext, log: EventLog, transcript: Callable[[Request, Reply], None]
) -> SanitizationChain:
    """Connect all that a chain of ``job`` needs; the clients are shared with the context's other jobs."""
    return SanitizationChain(job.seed, job.config, await mixed_models(job.models, context), log, transcript)
