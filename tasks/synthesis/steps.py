"""Synthesis at its edge: what a run is made of, what a shard worker does with it, and the Prefect task around that."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff
from pydantic import BaseModel, ConfigDict, Field

from infra.events import shard_committed
from infra.llm.connect import EmbedderConfig, OpenAIEmbedding, connect_embedder
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
from tasks.diversity.pool import Reservoir
from tasks.diversity.shared import SharedPool
from tasks.events import EventLog
from tasks.records import RECORDS, REJECTS
from tasks.shards.batches import batched
from tasks.shards.spreads import Spreads
from tasks.shards.steps import (
    PASSING,
    RETRIES,
    SHARD,
    MixEntry,
    ShardReceipt,
    add_price,
    counted,
    mixed_models,
    outcomes_of,
    receipt_of,
    summary_of,
    worth_another_try,
)
from tasks.synthesis.chain import Chain
from tasks.synthesis.config import SynthesisConfig
from tasks.synthesis.options import load_options
from tasks.synthesis.outcome import tables
from tasks.synthesis.prompts import PROMPT_SHAS

STAGE = "records"
STAGE_VERSION = 1  # raise it when the code makes other rows of the same replies: finished shards become stale
TABLES = {"records": RECORDS, "rejects": REJECTS}

POOL_VECTORS = 32_768  # read at the start of a run, from shards drawn at random: four times what the reservoir holds


class SynthesisJob(BaseModel):
    """All that a worker needs to make any shard of a run: small, and without secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Location
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


def records_store(root: Location, dataset: str) -> StageStore:
    """Return the store of a data set's records."""
    return StageStore(root, dataset, STAGE, TABLES, id_column="record_id")


def reservoir(root: Location, dataset: str, seed: int) -> Reservoir:
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


@task(
    task_run_name="{shard}",
    tags=[SHARD],
    retries=RETRIES,
    retry_delay_seconds=exponential_backoff(10),
    retry_condition_fn=worth_another_try,
    cache_policy=NO_CACHE,  # a committed shard is its own cache: the plan leaves it out
)
def synthesize_shard(shard: str, job: SynthesisJob, pool: WorkerPool) -> ShardReceipt:
    """Make one shard on a worker and wait until it is committed."""
    part = ShardRange.parse(shard)
    with Attempt(job.store().layout, part, PASSING):
        receipt = pool.submit(shard, partial(make_shard, job, part))
    shard_committed(job.store(), part)
    return receipt


async def make_shard(job: SynthesisJob, shard: ShardRange, context: WorkerContext) -> ShardReceipt:
    """Run the chain of every record of ``shard``, going on from its journal, and commit what they end in.

    Raises:
        LeaseHeld: another worker has the shard.
        BackendUnavailable: a model does not answer; what was answered is in the journal.
        JobStopped: the run was told to stop; what was in flight has ended.
    """
    store, spreads = job.store(), Spreads()
    async with off_loop(partial(store.acquire, shard)) as lease, heartbeat(lease, LEASE_TTL_S):
        async with off_loop(partial(store.journal, lease)) as journal:
            chain = await chain_of(job, context, journal, counted(context, spreads))
            ledger_of = partial(store.layout.batch_ledger, shard)
            async with batched(chain.models, job.models, ledger_of, context.batching) as models:
                run = models.surviving(replace(chain, models=models).run)
                outcomes = await outcomes_of(shard, range(shard.start, shard.stop), run, context, job.in_flight)
        receipt = receipt_of(shard, outcomes, journal.replayed)
        await asyncio.to_thread(
            store.commit,
            shard,
            tables(outcomes),
            lease,
            len(shard),
            spec_hash=job.spec_hash(),
            input_hashes={},
            summary=summary_of(receipt, outcomes, records=receipt.records, histograms=spreads.to_json()),
        )
    return receipt


async def chain_of(
    job: SynthesisJob, context: WorkerContext, log: EventLog, transcript: Callable[[Request, Reply], None]
) -> Chain:
    """Connect all that a chain of ``job`` needs; the clients are shared with the context's other jobs."""
    models = await mixed_models(job.models, context)
    if isinstance(job.embedder, OpenAIEmbedding):
        add_price(job.embedder.endpoint)
    embedder = await context.shared(
        job.embedder.model_dump_json(), partial(connect_embedder, job.embedder, context.limiter)
    )
    return Chain(job.seed, job.config, models, embedder, SharedPool(context.keeper), log, transcript)
