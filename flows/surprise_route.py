"""From score shards to shards of rewritten texts: only what a score selects goes to a model."""

from dataclasses import dataclass

from prefect import flow, unmapped
from prefect.futures import PrefectFutureList

from flows.budget import Budget, committed_usd
from flows.config import MixedEngine, RunConfig
from flows.engines import asked_of, engines
from flows.progress import shown
from flows.status import published
from flows.synthesize import RUNNER
from infra.interrupts import interrupts
from infra.llm.connect import Endpoint
from infra.llm.prices import FREE
from infra.ray.cluster import cluster
from infra.ray.keeper import LocalKeeper
from infra.ray.limiter import ray_limiter
from infra.ray.worker import WorkerPool
from infra.settings import settings
from infra.shards.plan import Plan
from tasks.diversity.pool import Reservoir
from tasks.shards.steps import MixEntry, ShardReceipt
from tasks.surprise.routing.steps import RouteJob, route_shard


@dataclass(frozen=True, slots=True)
class RouteReport:
    """What one call of the flow did."""

    shards_before: int
    receipts: tuple[ShardReceipt, ...]


def planned_entry(engine: MixedEngine) -> MixEntry:
    """Return a model of the run with an endpoint that leads nowhere: enough to plan, without starting it."""
    return MixEntry(
        endpoint=Endpoint(model=engine.name, price=FREE),
        weight=1.0,
        repeat_penalty=engine.repeat_penalty,
        forbidden_characters=engine.forbidden_characters,
        identity=engine.identity(),
    )


@flow(name="surprise-route", task_runner=RUNNER)
def route(run: RunConfig, job: RouteJob) -> RouteReport:
    """Route every score shard that is not yet.

    Args:
        run: its models are the rewriter and, where there is one, the judge; its workers do the work.
        job: planned, with endpoints that lead nowhere.
    """
    job.store().sweep()  # what killed runs have left
    planned = job.plan()
    done = planned.counts()["committed"]
    if not planned.todo:
        return RouteReport(done, ())
    with engines(run, cluster(settings().ray_address, at_least=asked_of(run))) as served:
        rewriter, *judges = served.models
        ready = job.model_copy(update={"rewriter": rewriter, "judge": judges[0] if judges else None})
        return RouteReport(done, _on_workers(run, ready, planned))


def _on_workers(run: RunConfig, job: RouteJob, planned: Plan) -> tuple[ShardReceipt, ...]:
    budget = Budget(run.budget_usd, committed_usd(job.store().manifest))
    budget.check()
    names = [shard.name for shard in planned.todo]
    source = job.source().manifest
    documents = sum(source.record(shard).files["scores"].rows for shard in planned.todo)
    with (
        ray_limiter() as limiter,
        # Routing draws nothing from the pool of vectors that workers are given.
        WorkerPool(run.workers, LocalKeeper(Reservoir(0)), limiter, jobs_each=run.shards_each) as pool,
        interrupts(pool.stop),
        published(pool, job.store().layout, planned, documents, budget),
        shown(pool, documents, budget) as watch,
    ):
        futures: PrefectFutureList[ShardReceipt] = route_shard.map(names, unmapped(job), unmapped(pool))
        futures.wait()  # all of them: one that fails must not stop the others
        watch.check()
        return tuple(futures.result())
