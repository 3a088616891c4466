"""Routing at its edge: rank the sentences of all scores, then rewrite and judge shard by shard, through a journal."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff
from pydantic import BaseModel, ConfigDict, Field

from infra.events import shard_committed
from infra.llm.types import Reply, Request
from infra.ray.job import WorkerContext
from infra.ray.versions import versions_here
from infra.ray.worker import WorkerPool
from infra.shards.heartbeat import heartbeat
from infra.shards.location import Location
from infra.shards.manifest import ShardSummary
from infra.shards.off_loop import off_loop
from infra.shards.plan import Plan, PlannedShard, plan
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import LEASE_TTL_S, StageStore
from tasks.events import EventLog
from tasks.records import RANKS, ROUTED, SENTENCE
from tasks.shards.spreads import Spreads
from tasks.shards.steps import (
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
from tasks.surprise.policy import Reference
from tasks.surprise.routing.chain import RoutedDocument, RoutingChain, Source
from tasks.surprise.routing.config import RoutingConfig
from tasks.surprise.routing.prompts import PROMPT_SHAS
from tasks.surprise.routing.ranking import Ranked, ranks_of, sent
from tasks.surprise.scored import ScoredSet
from tasks.surprise.store.steps import scores_store

STAGE_VERSION = 1  # raise it when the code makes other rows of the same replies: finished shards become stale


class RouteJob(BaseModel):
    """All that a worker needs to route any shard: small, and without secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    scores_root: Location
    scores: str = Field(description="the data set of scores")
    root: Location
    dataset: str = Field(description="the data set to write")
    select: str = Field(description="what ranks the sentences, such as surprise")
    ranking: str = Field(description="hash of the ranks: which sentences go")
    sentences: int = Field(ge=0, description="of all documents; budgets are shares of them")
    reference: Reference
    config: RoutingConfig
    rewriter: MixEntry
    judge: MixEntry | None = None
    seed: int = 1
    in_flight: int = Field(default=4, ge=1, description="documents of one shard worked on at once")

    def source(self) -> StageStore:
        """Return where the scores are."""
        return scores_store(self.scores_root, self.scores)

    def ranks(self) -> StageStore:
        """Return where the ranked sentences are."""
        return ranks_store(self.root, self.dataset)

    def store(self) -> StageStore:
        """Return where the rewritten texts go."""
        return StageStore(self.root, self.dataset, "routed", {"routed": ROUTED}, id_column="row_id")

    def cuts(self) -> Mapping[str, int]:
        """Name of each intervention on sentences, and the last rank that it sends."""
        return {f"{self.select} {100 * budget:g}%": sent(budget, self.sentences) for budget in self.config.budgets}

    def spec_hash(self) -> str:
        """Fingerprint all that shapes the rows but the scores."""
        models = [entry.model_dump(exclude={"endpoint"}) for entry in (self.rewriter, self.judge) if entry is not None]
        return spec_hash(
            self.config,
            {
                "select": self.select,
                "ranking": self.ranking,
                "models": models,
                "judged": self.judge is not None,
                "seed": self.seed,
                "prompts": PROMPT_SHAS,
                "schema": str(ROUTED),
                "stage_version": STAGE_VERSION,
            },
        )

    def plan(self) -> Plan:
        """Say which of the score shards are routed, and which are to be."""
        source, store, spec = self.source(), self.store(), self.spec_hash()
        shards: list[PlannedShard] = []
        todo: list[ShardRange] = []
        for shard in source.manifest.shards():
            one = plan(store, shard, shard.stop, spec, partial(input_hashes, source), "stale")
            shards += one.shards
            todo += one.todo
        return Plan(tuple(shards), tuple(todo))


def ranks_store(root: Location, dataset: str) -> StageStore:
    """Return the store of a data set's ranked sentences."""
    return StageStore(root, dataset, "ranks", {"ranks": RANKS}, id_column="document_id")


def input_hashes(source: StageStore, shard: ShardRange) -> Mapping[str, str]:
    """Return what routing a score shard reads: name -> content hash.

    Raises:
        KeyError: the shard has no scores.
    """
    return {"scores": source.manifest.record(shard).files["scores"].sha256}


def write_ranks(store: StageStore, source: StageStore, ranked: Ranked) -> str:
    """Commit the ranks of all sentences, in the shards of the scores, and return their hash.

    Args:
        store: of ``ranks_store``.
        source: the scores' store.
        ranked: the sentences of all scored documents, in the order of the input.
    """
    table, digest = _ranks_table(source, ranked)
    index = table["index"].to_numpy()  # rises
    for shard in source.manifest.shards():
        if not plan(store, shard, shard.stop, digest, partial(input_hashes, source), "stale").todo:
            continue
        inputs = input_hashes(source, shard)
        first, stop = np.searchsorted(index, (shard.start, shard.stop)).tolist()
        part = table.slice(first, stop - first)
        with store.acquire(shard) as lease:
            store.commit(
                shard,
                {"ranks": part},
                lease,
                part.num_rows,
                spec_hash=digest,
                input_hashes=inputs,
                summary=ShardSummary(versions=versions_here()),
            )
    return digest


def _ranks_table(source: StageStore, ranked: Ranked) -> tuple[pa.Table, str]:
    """Return rows of ``RANKS``, and a hash of which sentences there are and in what order they go."""
    spans, ranks = ranked.spans, ranks_of(ranked.scores)
    sentences = pa.StructArray.from_arrays(
        [pa.array(spans.start, pa.int32()), pa.array(spans.end, pa.int32()), pa.array(ranks)], fields=list(SENTENCE)
    )
    documents = pa.concat_tables([_documents(source, shard) for shard in source.manifest.shards()])
    columns = [
        documents["document_id"],
        documents["index"],
        pa.ListArray.from_arrays(pa.array(spans.row_offsets, pa.int32()), sentences),
        documents["tokens"],
    ]
    sha = hashlib.sha256("\n".join(documents["document_id"].to_pylist()).encode())
    for values in (spans.row_offsets, spans.start, spans.end, ranks):
        sha.update(np.ascontiguousarray(values).tobytes())
    return pa.Table.from_arrays(columns, schema=RANKS), sha.hexdigest()


def _documents(source: StageStore, shard: ShardRange) -> pa.Table:
    """Return id, index and number of tokens of the documents of a score shard."""
    read = source.read_shard("scores", shard, ["document_id", "index", "token_ids"])
    tokens = pc.list_value_length(read["token_ids"])
    return read.drop_columns(["token_ids"]).append_column("tokens", tokens)


@task(
    task_run_name="{shard}",
    tags=[SHARD],
    retries=RETRIES,
    retry_delay_seconds=exponential_backoff(10),
    retry_condition_fn=worth_another_try,
    cache_policy=NO_CACHE,  # a committed shard is its own cache: the plan leaves it out
)
def route_shard(shard: str, job: RouteJob, pool: WorkerPool) -> ShardReceipt:
    """Route one score shard on a worker and wait until it is committed."""
    part = ShardRange.parse(shard)
    receipt = pool.submit(shard, partial(make_routed, job, part))
    shard_committed(job.store(), part)
    return receipt


async def make_routed(job: RouteJob, shard: ShardRange, context: WorkerContext) -> ShardReceipt:
    """Route every document of a score shard, going on from its journal, and commit the rows.

    Raises:
        KeyError: the shard has no scores, or no ranks.
        LeaseHeld: another worker has the shard.
        BackendUnavailable: a model does not answer; what was answered is in the journal.
        JobStopped: the run was told to stop; what was in flight has ended.
    """
    store, source, spreads = job.store(), job.source(), Spreads()
    async with off_loop(partial(store.acquire, shard)) as lease, heartbeat(lease, LEASE_TTL_S):
        inputs = await asyncio.to_thread(input_hashes, source, shard)
        sources = await asyncio.to_thread(_sources, job, shard)
        async with off_loop(partial(store.journal, lease)) as journal:
            chain = await chain_of(job, context, journal, counted(context, spreads))
            done = await outcomes_of(shard, sources, chain.run, context, job.in_flight)
        routed = [each for each in done if isinstance(each, RoutedDocument)]
        receipt = receipt_of(shard, done, journal.replayed)
        rows = [row for each in routed for row in each.rows]
        await asyncio.to_thread(
            store.commit,
            shard,
            {"routed": pa.Table.from_pylist(rows, ROUTED)},
            lease,
            len(rows),
            spec_hash=job.spec_hash(),
            input_hashes=inputs,
            summary=summary_of(receipt, [bill for each in routed for bill in each.bills], histograms=spreads.to_json()),
        )
    return receipt


async def chain_of(
    job: RouteJob, context: WorkerContext, log: EventLog, transcript: Callable[[Request, Reply], None]
) -> RoutingChain:
    """Connect all that a chain of ``job`` needs; the clients are shared with the context's other jobs."""
    mix = await mixed_models([job.rewriter, *([] if job.judge is None else [job.judge])], context)
    rewriter, judge = mix[0], None if job.judge is None else mix[1]
    return RoutingChain(job.seed, job.config, job.cuts(), rewriter, judge, log, transcript)


def _sources(job: RouteJob, shard: ShardRange) -> list[Source]:
    table = job.source().read_shard("scores", shard)
    documents = ScoredSet(table, job.reference, sha256="").documents
    ranks: dict[int, dict[str, Any]] = {row["index"]: row for row in job.ranks().read_shard("ranks", shard).to_pylist()}
    return [
        Source(
            document,
            index,
            tuple((each["start"], each["end"], each["rank"]) for each in ranks[index]["sentences"]),
            ranks[index]["source_tokens"],
        )
        for document, index in zip(documents, table["index"].to_pylist(), strict=True)
    ]
