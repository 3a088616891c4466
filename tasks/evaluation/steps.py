"""Evaluation at its edge: what a run is made of, what a shard worker does, and the Prefect task around that."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

from prefect import task
from prefect.cache_policies import NO_CACHE
from prefect.tasks import exponential_backoff
from pydantic import BaseModel, ConfigDict, Field

from infra.events import shard_committed
from infra.llm.types import Reply, Request
from infra.ray.job import WorkerContext
from infra.ray.worker import WorkerPool
from infra.shards.checks import SchemaMismatch
from infra.shards.failures import Attempt
from infra.shards.heartbeat import heartbeat
from infra.shards.location import Location
from infra.shards.off_loop import off_loop
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import LEASE_TTL_S, StageStore
from tasks.evaluation.case import RECORD_COLUMNS, TRIPLET_COLUMNS, Case, EmptyValue
from tasks.evaluation.chain import EvaluationChain
from tasks.evaluation.choice import AnySanitizer, ModelSanitizer, OutputsSanitizer, ServedSanitizer
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.opening.steps import opened
from tasks.evaluation.outcome import tables
from tasks.evaluation.prompts import GUESS, PROMPT_SHAS
from tasks.evaluation.sanitizers import zero_shot
from tasks.evaluation.splits import TESTS
from tasks.evaluation.splitting.steps import splits_store
from tasks.evaluation.store.steps import (
    ORIGINALS,
    TABLES,
    evaluation_name,
    evaluations_of,
    evaluations_store,
    original_guesses,
)
from tasks.events import EventLog
from tasks.sanitization.steps import triplets_store
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
from tasks.synthesis.outcome import Reject
from tasks.synthesis.steps import records_store

STAGE_VERSION = 2  # raise it when the code makes other rows of the same replies: finished shards become stale


class EvaluationJob(BaseModel):
    """All that a worker needs to evaluate any shard of a run: small, and without secrets."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Location
    dataset: str
    seed: int
    config: EvaluationConfig
    sanitizer: AnySanitizer
    evaluator: MixEntry
    second: MixEntry | None = None
    only_tests: bool = Field(description="only triplets that `privasis split` has set aside for a test")
    in_flight: int = Field(ge=1, description="records of one shard worked on at once")

    @property
    def name(self) -> str:
        """What the evaluation is called: its folder's name."""
        return evaluation_name(self.sanitizer.name, self.evaluator.endpoint.model)

    def triplets(self) -> StageStore:
        """Return where the triplets come from."""
        return triplets_store(self.root, self.dataset)

    def store(self) -> StageStore:
        """Return where the judgements go."""
        return evaluations_store(self.root, self.dataset, self.name)

    def spec_hash(self) -> str:
        """Fingerprint all that shapes the rows but what is read: its hashes stand beside it."""
        models = {"evaluator": self.evaluator, "second": self.second}
        if isinstance(self.sanitizer, ModelSanitizer):
            models["sanitizer"] = self.sanitizer.entry
        served = {"served": self.sanitizer.model} if isinstance(self.sanitizer, ServedSanitizer) else {}
        return spec_hash(
            self.config,
            {
                "seed": self.seed,
                "sanitizer": [self.sanitizer.kind, self.sanitizer.name],
                "models": {role: each and each.model_dump(exclude={"endpoint"}) for role, each in models.items()},
                "prompts": PROMPT_SHAS,
                "schemas": {name: str(schema) for name, schema in TABLES.items()},
                "stage_version": STAGE_VERSION,
                **served,
            },
        )


def _asked(job: EvaluationJob) -> str:
    """Fingerprint what decides a guess from an original text beside that text and the fact."""
    return spec_hash(
        job.config.model_copy(update={"sanitizer_temperature": EvaluationConfig().sanitizer_temperature}),
        {
            "seed": job.seed,
            "evaluator": [job.evaluator.endpoint.model, job.evaluator.model_dump(exclude={"endpoint"})],
            "prompt": GUESS.sha,
            "stage_version": STAGE_VERSION,  # another one may count the facts of a record otherwise
        },
    )


def input_hashes(job: EvaluationJob, shard: ShardRange) -> Mapping[str, str]:
    """Return what the evaluation of the triplet shard ``shard`` reads: name -> content hash.

    Raises:
        KeyError: the shard of records, of triplets or of splits is not committed.
    """
    found = {
        "records": records_store(job.root, job.dataset).manifest.record(shard).files["records"].sha256,
        "triplets": job.triplets().manifest.record(shard).files["triplets"].sha256,
    }
    if isinstance(job.sanitizer, OutputsSanitizer):
        found["outputs"] = job.sanitizer.sha256
    if job.only_tests:  # who is tested, not in which test: that is decided by what is judged here
        found["tested"] = hashlib.sha256("\n".join(sorted(ids_to_judge(job, shard))).encode()).hexdigest()
    return found


def ids_to_judge(job: EvaluationJob, shard: ShardRange) -> set[str]:
    """Return the ids of the triplets of ``shard`` that are to be evaluated.

    Raises:
        KeyError: the shard of triplets, or of splits where these are asked for, is not committed.
    """
    if not job.only_tests:
        return set(job.triplets().read_shard("triplets", shard, ["record_id"])["record_id"].to_pylist())
    splits = splits_store(job.root, job.dataset).read_shard("splits", shard, ["record_id", "split"])
    return {row["record_id"] for row in splits.to_pylist() if row["split"] in TESTS}


def cases_of(job: EvaluationJob, shard: ShardRange) -> list[Case]:
    """Read what is to be evaluated of ``shard``, in order.

    Raises:
        KeyError: the shard is not committed.
        SchemaMismatch: an attribute has no value.
    """
    wanted = ids_to_judge(job, shard)
    records = records_store(job.root, job.dataset).read_shard("records", shard, list(RECORD_COLUMNS))
    by_id = {row["record_id"]: row for row in records.to_pylist()}
    triplets = job.triplets().read_shard("triplets", shard, list(TRIPLET_COLUMNS)).to_pylist()
    try:
        return [Case.of_rows(row, by_id[row["record_id"]]) for row in triplets if row["record_id"] in wanted]
    except EmptyValue as error:
        raise SchemaMismatch(f"{shard.name}: {error}") from error


@task(
    task_run_name="{shard}",
    tags=[SHARD],
    retries=RETRIES,
    retry_delay_seconds=exponential_backoff(10),
    retry_condition_fn=worth_another_try,
    cache_policy=NO_CACHE,  # a committed shard is its own cache: the plan leaves it out
)
def evaluate_shard(shard: str, job: EvaluationJob, pool: WorkerPool) -> ShardReceipt:
    """Evaluate one shard of triplets on a worker and wait until it is committed."""
    part = ShardRange.parse(shard)
    with Attempt(job.store().layout, part, PASSING):
        receipt = pool.submit(shard, partial(make_evaluations, job, part))
    shard_committed(job.store(), part)
    return receipt


async def make_evaluations(job: EvaluationJob, shard: ShardRange, context: WorkerContext) -> ShardReceipt:
    """Judge every record of ``shard`` that is to be, going on from its journal, and commit what was found.

    Raises:
        KeyError: a shard that it reads is not committed.
        SchemaMismatch: an attribute has no value.
        LeaseHeld: another worker has the shard.
        BackendUnavailable: a model does not answer; what was answered is in the journal.
        JobStopped: the run was told to stop; what was in flight has ended.
    """
    store, spreads = job.store(), Spreads()
    async with off_loop(partial(store.acquire, shard)) as lease, heartbeat(lease, LEASE_TTL_S):
        # The hashes before the rows: were these replaced in between, the shard would be made again, never believed.
        inputs = await asyncio.to_thread(input_hashes, job, shard)
        cases = await asyncio.to_thread(cases_of, job, shard)
        others = evaluations_of(job.root, job.dataset).values()
        known = await asyncio.to_thread(original_guesses, others, shard, triplets=inputs["triplets"], asked=_asked(job))
        async with off_loop(partial(store.journal, lease)) as journal:
            chain = replace(await _chain(job, context, journal, counted(context, spreads)), originals=known)
            outcomes = await outcomes_of(shard, cases, chain.run, context, job.in_flight)
        judged = [each for each in outcomes if not isinstance(each, Reject)]  # all: no record is rejected here
        receipt = receipt_of(shard, judged, journal.replayed)
        bills = [bill for each in judged for bill in each.bills]
        await asyncio.to_thread(
            store.commit,
            shard,
            tables(judged),
            lease,
            len(cases),
            spec_hash=job.spec_hash(),
            input_hashes=inputs,
            summary=summary_of(
                receipt,
                bills,
                step_kind=lambda step: step.partition("-")[0],
                histograms=spreads.to_json(),
                **{ORIGINALS: _asked(job)},
            ),
        )
    return receipt


async def _chain(
    job: EvaluationJob, context: WorkerContext, log: EventLog, transcript: Callable[[Request, Reply], None]
) -> EvaluationChain:
    asked = [job.sanitizer.entry] if isinstance(job.sanitizer, ModelSanitizer) else []
    models = await mixed_models([job.evaluator, *([job.second] if job.second else []), *asked], context)
    prompted = partial(zero_shot, models[-1], job.seed, job.config, log, transcript)
    return EvaluationChain(
        run_seed=job.seed,
        config=job.config,
        sanitizer_name=job.sanitizer.name,
        sanitizer=await opened(job.sanitizer, context, log, prompted),
        evaluator=models[0],
        second=models[1] if job.second else None,
        log=log,
        transcript=transcript,
    )
