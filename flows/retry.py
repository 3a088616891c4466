"""From rejected rows to another try at them, them alone."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from prefect import flow, unmapped
from prefect.futures import PrefectFutureList

from flows.budget import Budget, committed_usd
from flows.config import RunConfig
from flows.engines import asked_of, engines, job_of, planned_job
from flows.progress import shown
from flows.sanitize import plan_sanitization, planned_sanitization, sanitization_job
from flows.status import published
from flows.synthesize import RUNNER, plan_run
from infra.interrupts import interrupts
from infra.ray.cluster import cluster
from infra.ray.keeper import LocalKeeper, ray_keeper
from infra.ray.limiter import ray_limiter
from infra.ray.worker import WorkerPool
from infra.settings import settings
from infra.shards.plan import Plan
from infra.shards.ranges import ShardRange
from tasks.diversity.pool import Reservoir
from tasks.shards.retrying.choice import Wanted
from tasks.shards.retrying.steps import RetryJob, RetryReceipt, rejects_to_ask, retry_shard
from tasks.synthesis.steps import SynthesisJob, reservoir

RetryStage = Literal["records", "triplets"]


@dataclass(frozen=True, slots=True)
class RetryPlan:
    """Which rows are to be asked again.

    Attributes:
        plan: the stage's shards; those to do have such rows.
        rows: shard -> how many.
        stale: shards with such rows that have to be made again as a whole first.
    """

    plan: Plan
    rows: dict[str, int]
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RetryReport:
    """What one call of the flow did; by shard."""

    receipts: tuple[RetryReceipt, ...]

    @property
    def asked(self) -> int:
        """Rows asked again."""
        return sum(each.asked for each in self.receipts)

    @property
    def passed(self) -> int:
        """Rows that are kept now."""
        return sum(each.passed for each in self.receipts)


def plan_retry(run: RunConfig, stage: RetryStage, wanted: Wanted, most: int | None = None) -> RetryPlan:
    """Say which finished shards have rejected rows that are meant and could end otherwise; reads only.

    Args:
        run: the data set and its settings.
        stage: whose rejects.
        wanted: which of them.
        most: shards.

    Raises:
        TableDamaged: a file of a finished shard is not what was committed.
    """
    job, planned = _planned(run, stage)
    store = job.store()
    rows: dict[str, int] = {}
    stale: list[str] = []
    todo: list[ShardRange] = []
    for each in planned.shards:
        if each.state not in ("committed", "stale") or not (found := rejects_to_ask(store, each.shard, wanted)):
            continue
        if each.state == "stale":
            stale.append(each.shard.name)
        elif most is None or len(todo) < most:
            todo.append(each.shard)
            rows[each.shard.name] = len(found)
    return RetryPlan(Plan(planned.shards, tuple(todo)), rows, tuple(stale))


@flow(name="retry", task_runner=RUNNER)
def retry(run: RunConfig, stage: RetryStage, wanted: Wanted, most: int | None = None) -> RetryReport:
    """Ask rejected rows of finished shards again; what passes is kept, every other row stays as it is.

    Args:
        run: the data set and its settings.
        stage: whose rejects.
        wanted: which of them.
        most: shards in this run.
    """
    _planned(run, stage)[0].store().sweep()  # what killed runs have left
    planned = plan_retry(run, stage, wanted, most)
    if not planned.plan.todo:
        return RetryReport(())
    with engines(run, cluster(settings().ray_address, at_least=asked_of(run))) as served:
        job: RetryJob = job_of(run, served) if stage == "records" else sanitization_job(run, served.models)
        return RetryReport(_on_workers(run, job, wanted, planned))


def _planned(run: RunConfig, stage: RetryStage) -> tuple[RetryJob, Plan]:
    if stage == "records":
        return planned_job(run), plan_run(run, "missing")
    return planned_sanitization(run), plan_sanitization(run, "missing")


def _on_workers(run: RunConfig, job: RetryJob, wanted: Wanted, planned: RetryPlan) -> tuple[RetryReceipt, ...]:
    budget = Budget(run.budget_usd, committed_usd(job.store().manifest))
    budget.check()
    names, rows = [shard.name for shard in planned.plan.todo], sum(planned.rows.values())
    with (
        ray_limiter() as limiter,
        _keeper(job) as keeper,
        WorkerPool(run.workers, keeper, limiter, jobs_each=run.shards_each) as pool,
        interrupts(pool.stop),
        published(pool, job.store().layout, planned.plan, rows, budget),
        shown(pool, rows, budget) as watch,
    ):
        futures: PrefectFutureList[RetryReceipt] = retry_shard.map(
            names, unmapped(job), unmapped(wanted), unmapped(pool)
        )
        futures.wait()  # all of them: one that fails must not stop the others
        watch.check()
        return tuple(futures.result())


def _keeper(job: RetryJob) -> AbstractContextManager[Any]:
    if isinstance(job, SynthesisJob):
        return ray_keeper(partial(reservoir, job.root, job.dataset, job.seed))
    return nullcontext(LocalKeeper(Reservoir(job.seed)))  # sanitization draws nothing from the pool of vectors
