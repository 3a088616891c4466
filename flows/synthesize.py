"""From first names to record shards."""

from dataclasses import dataclass
from functools import partial
from typing import Any

from prefect import flow, unmapped
from prefect.futures import PrefectFutureList
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from flows.budget import Budget, committed_usd
from flows.config import RunConfig
from flows.engines import asked_of, engines, job_of, planned_job
from flows.progress import shown
from flows.status import published
from infra.interrupts import interrupts
from infra.ray.cluster import cluster
from infra.ray.keeper import ray_keeper
from infra.ray.limiter import ray_limiter
from infra.ray.worker import WorkerPool
from infra.settings import settings
from infra.shards.plan import Plan, Reprocess, plan
from tasks.shards.steps import ShardReceipt
from tasks.synthesis.steps import SynthesisJob, reservoir, synthesize_shard

SHARDS_AT_ONCE = 64  # threads that wait for workers; the workers themselves are fewer


@dataclass(frozen=True, slots=True)
class SynthesisReport:
    """What one call of the flow did."""

    dataset: str
    shards_before: int
    receipts: tuple[ShardReceipt, ...]


def plan_run(run: RunConfig, reprocess: Reprocess) -> Plan:
    """Say which shards are there, stale, begun or missing, and which are to be made."""
    job = planned_job(run)
    return plan(job.store(), run.wanted, run.shard_size, job.spec_hash(), reprocess=reprocess)


RUNNER: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=SHARDS_AT_ONCE)


@flow(name="synthesize", task_runner=RUNNER)
def synthesize(
    run: RunConfig, reprocess: Reprocess = "missing_and_failed", only: tuple[str, ...] | None = None
) -> SynthesisReport:
    """Make what ``run`` wants and its data set lacks; a finished shard is never made again unless asked.

    Args:
        run: what is wanted.
        reprocess: what to make again.
        only: names of shards, in the order of doing: of what is to be made, these alone.
    """
    planned_job(run).store().sweep()  # what killed runs have left
    planned = plan_run(run, reprocess).only(only)
    done = planned.counts()["committed"]
    if not planned.todo:
        return SynthesisReport(run.dataset, done, ())
    with engines(run, cluster(settings().ray_address, at_least=asked_of(run))) as served:
        job = job_of(run, served)
        return SynthesisReport(run.dataset, done, _on_workers(run, job, planned))


def _on_workers(run: RunConfig, job: SynthesisJob, planned: Plan) -> tuple[ShardReceipt, ...]:
    budget = Budget(run.budget_usd, committed_usd(job.store().manifest))
    budget.check()
    names = [shard.name for shard in planned.todo]
    with (
        ray_limiter() as limiter,
        ray_keeper(partial(reservoir, job.root, job.dataset, job.seed)) as keeper,
        WorkerPool(run.workers, keeper, limiter, jobs_each=run.shards_each) as pool,
        interrupts(pool.stop),
        published(pool, job.store().layout, planned, sum(map(len, planned.todo)), budget),
        shown(pool, sum(map(len, planned.todo)), budget) as watch,
    ):
        futures: PrefectFutureList[ShardReceipt] = synthesize_shard.map(names, unmapped(job), unmapped(pool))
        futures.wait()  # all of them: one that fails must not stop the others
        watch.check()
        return tuple(futures.result())
