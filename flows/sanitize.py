"""From record shards to shards of triplets."""

from dataclasses import dataclass
from functools import partial

from prefect import flow, unmapped
from prefect.futures import PrefectFutureList

from flows.budget import Budget, committed_usd
from flows.config import RunConfig
from flows.engines import asked_of, engines, planned_job
from flows.progress import shown
from flows.status import published
from flows.synthesize import RUNNER
from infra.interrupts import interrupts
from infra.ray.cluster import cluster
from infra.ray.keeper import LocalKeeper
from infra.ray.limiter import ray_limiter
from infra.ray.worker import WorkerPool
from infra.settings import settings
from infra.shards.plan import Plan, Reprocess, plan_over
from tasks.diversity.pool import Reservoir
from tasks.sanitization.steps import SanitizationJob, input_hashes, sanitize_shard
from tasks.shards.steps import MixEntry, ShardReceipt


@dataclass(frozen=True, slots=True)
class SanitizationReport:
    """What one call of the flow did."""

    dataset: str
    shards_before: int
    receipts: tuple[ShardReceipt, ...]


def planned_sanitization(run: RunConfig) -> SanitizationJob:
    """Return the job with endpoints that lead nowhere: enough to plan, without starting anything."""
    return sanitization_job(run, planned_job(run).models)


def sanitization_job(run: RunConfig, models: tuple[MixEntry, ...]) -> SanitizationJob:
    """Put together what workers need."""
    return SanitizationJob(
        root=run.root.resolve(),
        dataset=run.dataset,
        seed=run.seed,
        config=run.sanitization,
        models=models,
        in_flight=run.in_flight,
    )


def plan_sanitization(run: RunConfig, reprocess: Reprocess) -> Plan:
    """Say which of the finished record shards are sanitized, and which are to be: each is one shard of triplets."""
    job = planned_sanitization(run)
    records, store, spec = job.records(), job.store(), job.spec_hash()
    return plan_over(store, records.manifest.shards(), spec, partial(input_hashes, records), reprocess)


@flow(name="sanitize", task_runner=RUNNER)
def sanitize(
    run: RunConfig, reprocess: Reprocess = "missing_and_failed", only: tuple[str, ...] | None = None
) -> SanitizationReport:
    """Sanitize every finished record shard that is not yet; a finished shard is never made again unless asked.

    Args:
        run: where the records are, and how to sanitize them.
        reprocess: what to make again.
        only: names of shards, in the order of doing: of what is to be made, these alone.
    """
    planned_sanitization(run).store().sweep()  # what killed runs have left
    planned = plan_sanitization(run, reprocess).only(only)
    done = planned.counts()["committed"]
    if not planned.todo:
        return SanitizationReport(run.dataset, done, ())
    with engines(run, cluster(settings().ray_address, at_least=asked_of(run))) as served:
        return SanitizationReport(run.dataset, done, _on_workers(run, sanitization_job(run, served.models), planned))


def _on_workers(run: RunConfig, job: SanitizationJob, planned: Plan) -> tuple[ShardReceipt, ...]:
    budget = Budget(run.budget_usd, committed_usd(job.store().manifest))
    budget.check()
    names = [shard.name for shard in planned.todo]
    records = job.records().manifest
    rows = sum(records.record(shard).files["records"].rows for shard in planned.todo)
    with (
        ray_limiter() as limiter,
        # Sanitization draws nothing from the pool of vectors that workers are given.
        WorkerPool(run.workers, LocalKeeper(Reservoir(job.seed)), limiter, jobs_each=run.shards_each) as pool,
        interrupts(pool.stop),
        published(pool, job.store().layout, planned, rows, budget),
        shown(pool, rows, budget) as watch,
    ):
        futures: PrefectFutureList[ShardReceipt] = sanitize_shard.map(names, unmapped(job), unmapped(pool))
        futures.wait()  # all of them: one that fails must not stop the others
        watch.check()
        return tuple(futures.result())
