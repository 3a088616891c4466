"""Scoring at its edge: what a run is made of, what a shard worker does, and the Prefect task around that."""

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff
from pydantic import BaseModel, ConfigDict, Field

from infra.events import shard_committed
from infra.llm.types import Usage
from infra.ray.job import WorkerContext
from infra.ray.versions import versions_here
from infra.ray.worker import JobStopped, WorkerPool
from infra.shards.heartbeat import heartbeat
from infra.shards.journal import Journal
from infra.shards.location import Location
from infra.shards.manifest import ShardSummary
from infra.shards.off_loop import off_loop
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import LEASE_TTL_S, StageStore
from tasks.shards.steps import RETRIES, SHARD, worth_another_try
from tasks.surprise.memory import Memory
from tasks.surprise.policy import Reference
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.input import Reject, Rows, content_hash, read
from tasks.surprise.reading.raw import Slice
from tasks.surprise.reference.steps import Opened, ReferenceModel, model_versions, opened
from tasks.surprise.score_rows import NllSum, Outcome, ScoredDocument, nll_sums, tables
from tasks.surprise.scoring.scorer import Pass, Scored, Text
from tasks.surprise.shard import ShardRows
from tasks.surprise.store.steps import TABLES, scores_store

STAGE_VERSION = 2  # raise it when the code makes other rows of the same input and model: finished shards become stale


class ScoreJob(BaseModel):
    """All that a worker needs to score any shard of a run, but which rows: small, and without secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Location
    dataset: str
    columns: Columns
    passes: tuple[Pass, ...] = Field(min_length=1)
    model: ReferenceModel
    reference: Reference = Field(description="model and tokenizer as they were found when the run was planned")
    batch_characters: int = Field(
        default=1 << 16, ge=1, description="scored between two writes to the journal: what a killed worker loses"
    )

    def store(self) -> StageStore:
        """Return where the scores go."""
        return scores_store(self.root, self.dataset)

    def spec_hash(self) -> str:
        """Fingerprint all that shapes the rows but the input: its hash stands beside it."""
        return spec_hash(
            self.columns,
            self.reference,
            {
                "reads": self.model.reads(),
                "passes": [[asked.name, asked.prompt] for asked in self.passes],
                "schemas": {name: str(schema) for name, schema in TABLES.items()},
                "stage_version": STAGE_VERSION,
            },
        )


@dataclass(frozen=True, slots=True)
class ScoreReceipt:
    """What became of a shard: small enough for a dashboard, and without any text.

    Attributes:
        shard: its name.
        documents: rows scored.
        tokens: of these, each counted once however many passes there were.
        replayed: documents whose scores an earlier try had left in the journal.
        nll: sums by pass.
        reasons: rows not scored, by reason.
    """

    shard: str
    documents: int
    tokens: int
    replayed: int
    nll: Mapping[str, NllSum]
    reasons: Mapping[str, int]


def input_hashes(slices: Sequence[Slice]) -> Mapping[str, str]:
    """Return what a shard reads: name -> content hash.

    Raises:
        InputUnfit: a file is gone or damaged.
    """
    return {"rows": content_hash(slices)}


@task(
    task_run_name="{shard}",
    tags=[SHARD],
    retries=RETRIES,
    retry_delay_seconds=exponential_backoff(10),
    retry_condition_fn=worth_another_try,
    cache_policy=NO_CACHE,  # a committed shard is its own cache: the plan leaves it out
)
def score_shard(shard: str, slices: tuple[Slice, ...], job: ScoreJob, pool: WorkerPool) -> ScoreReceipt:
    """Score one shard on a worker and wait until it is committed."""
    part = ShardRange.parse(shard)
    receipt = pool.submit(shard, partial(make_scores, job, part, slices))
    shard_committed(job.store(), part)
    return receipt


async def make_scores(
    job: ScoreJob, shard: ShardRange, slices: tuple[Slice, ...], context: WorkerContext
) -> ScoreReceipt:
    """Score the rows of ``slices``, going on from the shard's journal, and commit them.

    Raises:
        InputUnfit: a file of the input is gone or damaged.
        ModelChanged: the model is not the one the run was planned with.
        LeaseHeld: another worker has the shard.
        BackendUnavailable: a server does not answer; what was scored is in the journal.
        JobStopped: the run was told to stop; what was scored is in the journal.
    """
    store = job.store()
    async with off_loop(partial(store.acquire, shard)) as lease, heartbeat(lease, LEASE_TTL_S):
        rows = await asyncio.to_thread(read, slices)  # with the hash of the very bytes that were read
        model = await context.shared(job.model.model_dump_json(), partial(opened, job.model))
        model.check(job.reference)
        async with off_loop(partial(store.journal, lease)) as journal:
            outcomes, replayed = await _outcomes(job, shard, rows, model, journal, context)
        receipt = _receipt(shard, outcomes, replayed)
        await asyncio.to_thread(
            store.commit,
            shard,
            tables(outcomes, shard.start, job.reference),
            lease,
            len(shard),
            spec_hash=job.spec_hash(),
            input_hashes={"rows": rows.sha256},
            summary=_summary(job, receipt, model),
        )
    return receipt


async def _outcomes(
    job: ScoreJob, shard: ShardRange, read: Rows, model: Opened, journal: Journal, context: WorkerContext
) -> tuple[list[Outcome], int]:
    """Score what the journal does not hold, batch by batch; return the outcome of each row, and how many it held."""
    rows = await asyncio.to_thread(ShardRows.of, read.items, read.places, model.render)
    texts, memory = rows.texts(), Memory(model.scorer, job.passes, journal, model.precision)
    context.progress["rejected"] += len(rows.rows) - texts.total()

    def done(text: Text, scored: Scored) -> None:  # in the thread that scores; nobody else writes these counters
        context.progress["documents"] += texts[text]
        context.progress["tokens"] += scored.ids.size

    found: dict[Text, Scored] = {}
    for batch in memory.batches(list(texts), job.batch_characters):
        if context.stopping.is_set():
            raise JobStopped(f"{shard.name}: stopped with documents left to score; run again and it goes on")
        async with model.lock:  # the shards of a worker share its model and its threads
            scored = await asyncio.to_thread(memory.score, batch, done)
        memory.remember(batch, scored)
        if batch.passes == job.passes:
            found |= zip(batch.texts, scored, strict=True)
    held = [text for text in texts if text not in found]
    found |= zip(held, await asyncio.to_thread(memory.recall, held), strict=True)
    replayed = sum(texts[text] for text in held)
    return rows.outcomes(found), replayed


def _receipt(shard: ShardRange, outcomes: Sequence[Outcome], replayed: int) -> ScoreReceipt:
    scored = [each for each in outcomes if isinstance(each, ScoredDocument)]
    return ScoreReceipt(
        shard=shard.name,
        documents=len(scored),
        tokens=sum(each.scored.ids.size for each in scored),
        replayed=replayed,
        nll=nll_sums(outcomes),
        reasons=Counter(each.reason for each in outcomes if isinstance(each, Reject)),
    )


def _summary(job: ScoreJob, receipt: ScoreReceipt, model: Opened) -> ShardSummary:
    return ShardSummary(
        reasons=receipt.reasons,
        tokens=Usage(prompt=receipt.tokens * len(job.passes)),
        versions=versions_here() | model_versions(),
        notes={
            "reference": job.reference.model_dump(),
            "prompts": {asked.name: asked.prompt for asked in job.passes if asked.prompt is not None},
            "reading": model.reading(),
            "documents": receipt.documents,
            "replayed": receipt.replayed,
            "nll": {name: {"tokens": each.tokens, "nats": each.nats} for name, each in receipt.nll.items()},
        },
    )
