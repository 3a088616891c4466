"""From texts and chats to score shards."""

from dataclasses import dataclass
from pathlib import Path

from prefect import flow, unmapped
from prefect.futures import PrefectFutureList
from pydantic import BaseModel, ConfigDict, Field

from flows.score_progress import shown
from flows.synthesize import RUNNER
from infra.interrupts import interrupts
from infra.ray.cluster import Size, cluster
from infra.ray.keeper import LocalKeeper
from infra.ray.worker import WorkerPool
from infra.settings import settings
from infra.shards.location import Location
from infra.shards.plan import Plan, Reprocess, plan
from infra.shards.ranges import ShardRange
from tasks.diversity.pool import Reservoir
from tasks.surprise.reading.input import Input
from tasks.surprise.reading.raw import InputUnfit
from tasks.surprise.reading.steps import InputConfig
from tasks.surprise.reference.steps import ReferenceModel, identify
from tasks.surprise.scoring.scorer import PLAIN, Pass
from tasks.surprise.steps import ScoreJob, ScoreReceipt, input_hashes, score_shard

SHARDS_EACH = 2  # in a worker: while the model scores one, the other is read or written


class ScoreRun(BaseModel):
    """One scoring run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$", description="name of the data set of scores")
    root: Location = Field(default=Path("data"), description="folder that holds the data sets")
    input: InputConfig
    model: ReferenceModel
    passes: tuple[Pass, ...] = Field(default=(PLAIN,), min_length=1)
    workers: int = Field(default=1, ge=1, description="processes, each with the model; they share the cores")
    shard_size: int = Field(default=512, ge=1, le=100_000, description="rows a shard")


@dataclass(frozen=True, slots=True)
class ScoreReport:
    """What one call of the flow did."""

    dataset: str
    shards_before: int
    receipts: tuple[ScoreReceipt, ...]


def job_of(run: ScoreRun) -> ScoreJob:
    """Put together what workers need.

    Raises:
        ModelMissing: the reference model cannot be found.
        ModelUnfit: it has no chat template, and there are chats.
        BackendUnavailable: the server that has it does not answer.
    """
    return ScoreJob(
        root=run.root.resolve(),
        dataset=run.dataset,
        columns=run.input.columns,
        passes=run.passes,
        model=run.model.shared_by(run.workers),
        reference=identify(run.model, chats=run.input.columns.messages is not None),
    )


def plan_scores(run: ScoreRun, job: ScoreJob, rows: Input, reprocess: Reprocess) -> Plan:
    """Say which rows are scored, and which are to be.

    Raises:
        InputUnfit: a file is gone or damaged, or the data set has scores of rows that the input does not have.
    """
    store = job.store()
    for shard in store.manifest.shards():
        if shard.stop > rows.rows:
            raise InputUnfit(
                f"{store.layout.manifest}: has scores of rows up to {shard.stop:,}, the input has {rows.rows:,}: it was"
                " made of another input; give the scores of this one another --dataset"
            )
    return plan(
        store,
        ShardRange(0, rows.rows),
        run.shard_size,
        job.spec_hash(),
        lambda shard: input_hashes(rows.slices(shard.start, shard.stop)),
        reprocess,
    )


@flow(name="surprise-score", task_runner=RUNNER)
def score(run: ScoreRun, reprocess: Reprocess = "missing_and_failed") -> ScoreReport:
    """Score every row that is not yet; a finished shard is never scored again unless asked.

    Raises:
        InputUnfit: the input cannot be read, a column is in no row, or ids repeat.
    """
    rows, job = run.input.open(), job_of(run)
    job.store().sweep()  # what killed runs have left
    planned = plan_scores(run, job, rows, reprocess)
    done = planned.counts()["committed"]
    if not planned.todo:
        return ScoreReport(run.dataset, done, ())
    rows.check_columns(run.input.columns.used())
    rows.check_ids()
    with cluster(settings().ray_address, at_least=Size(cpus=run.workers)):
        return ScoreReport(run.dataset, done, _on_workers(run, job, rows, planned))


def _on_workers(run: ScoreRun, job: ScoreJob, rows: Input, planned: Plan) -> tuple[ScoreReceipt, ...]:
    names = [shard.name for shard in planned.todo]
    slices = [rows.slices(shard.start, shard.stop) for shard in planned.todo]
    with (
        # Scoring draws nothing from the pool of vectors that workers are given.
        WorkerPool(run.workers, LocalKeeper(Reservoir(0)), jobs_each=SHARDS_EACH) as pool,
        interrupts(pool.stop),
        shown(pool, sum(map(len, planned.todo))),
    ):
        futures: PrefectFutureList[ScoreReceipt] = score_shard.map(names, slices, unmapped(job), unmapped(pool))
        futures.wait()  # all of them: one that fails must not stop the others
        return tuple(futures.result())
