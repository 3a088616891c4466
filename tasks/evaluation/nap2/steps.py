"""Scoring of NaP² files at its edge: shards of rows with a journal, in one process."""

import asyncio
from functools import partial
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.heartbeat import heartbeat
from infra.shards.location import Location
from infra.shards.off_loop import off_loop
from infra.shards.plan import Plan, plan
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import LEASE_TTL_S, StageStore
from tasks.diversity.pool import Reservoir
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.nap2.judge import LeakRatio, Nap2Judge, leak_ratio, nap2_table
from tasks.evaluation.nap2.rows import Columns, Nap2Row, read_nap2
from tasks.evaluation.prompts import NEARER_TEXT
from tasks.evaluation.store.steps import evaluation_name
from tasks.records import NAP2
from tasks.shards.spreads import Spreads
from tasks.shards.steps import MixEntry, counted, mixed_models, outcomes_of, receipt_of, summary_of
from tasks.synthesis.outcome import Reject

STAGE = "nap2"
STAGE_VERSION = 1
SHARD_ROWS = 512


class Nap2Job(BaseModel):
    """All that decides the judgement of a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Location
    file: Path
    sha256: str = Field(description="of the file")
    columns: Columns
    seed: int
    config: EvaluationConfig
    evaluator: MixEntry
    in_flight: int = Field(ge=1)

    def store(self) -> StageStore:
        """Return where the judgements go: a folder a file and evaluator, like a data set.

        A file that has changed has another: the rows of the two are not one sample.
        """
        name = evaluation_name(f"nap2-{self.file.stem}-{self.sha256[:8]}", self.evaluator.endpoint.model)
        return StageStore(self.root, name, STAGE, {STAGE: NAP2}, id_column="row_id")

    def spec_hash(self) -> str:
        """Fingerprint all that shapes the rows but the file."""
        return spec_hash(
            self.config,
            self.columns,
            {
                "seed": self.seed,
                "evaluator": self.evaluator.model_dump(exclude={"endpoint"}),
                "prompt": NEARER_TEXT.sha,
                "schema": str(NAP2),
                "stage_version": STAGE_VERSION,
            },
        )


def plan_nap2(job: Nap2Job, rows: int) -> Plan:
    """Say which shards of a file of so many rows are to be judged: what has changed always is."""
    inputs = {"file": job.sha256}
    return plan(job.store(), ShardRange(0, rows), SHARD_ROWS, job.spec_hash(), lambda shard: inputs, "stale")


def score_nap2(job: Nap2Job) -> None:
    """Judge what is not judged yet; killed and called again, it goes on.

    Raises:
        Nap2Unusable: the file cannot be read.
        LeaseHeld: another process is at it.
        BackendUnavailable: the evaluator does not answer.
    """
    asyncio.run(_score(job, read_nap2(job.file, job.columns)))


async def _score(job: Nap2Job, rows: list[Nap2Row]) -> None:
    shared = Shared()
    context = WorkerContext(LocalKeeper(Reservoir(job.seed)), _shared=shared)
    try:
        for shard in plan_nap2(job, len(rows)).todo:
            await judge_shard(job, shard, rows[shard.start : shard.stop], context)
    finally:
        await shared.close()


async def judge_shard(job: Nap2Job, shard: ShardRange, rows: list[Nap2Row], context: WorkerContext) -> None:
    """Judge the ``rows`` of one shard, going on from its journal, and commit them."""
    store, spreads = job.store(), Spreads()
    async with off_loop(partial(store.acquire, shard)) as lease, heartbeat(lease, LEASE_TTL_S):
        async with off_loop(partial(store.journal, lease)) as journal:
            models = await mixed_models([job.evaluator], context)
            judge = Nap2Judge(job.seed, job.config, models[0], journal, counted(context, spreads))
            outcomes = await outcomes_of(shard, rows, judge.run, context, job.in_flight)
        judged = [each for each in outcomes if not isinstance(each, Reject)]  # all: none is rejected here
        commit = partial(store.commit, spec_hash=job.spec_hash(), input_hashes={"file": job.sha256})
        receipt = receipt_of(shard, judged, journal.replayed)
        summary = summary_of(receipt, judged, histograms=spreads.to_json())
        await asyncio.to_thread(commit, shard, {STAGE: nap2_table(judged)}, lease, len(rows), summary=summary)


def ratio_of(job: Nap2Job) -> LeakRatio:
    """Return the leak ratio of what is judged."""
    return leak_ratio(job.store().read(STAGE, ["outcome"])["outcome"].to_pylist())
