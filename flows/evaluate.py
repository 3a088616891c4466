"""From shards of triplets to judgements of a sanitizer, and from these to figures."""

from dataclasses import dataclass
from functools import partial

from prefect import flow, unmapped
from prefect.futures import PrefectFutureList
from pydantic import BaseModel, ConfigDict, Field

from flows.budget import Budget, committed_usd
from flows.config import MixedEngine, RunConfig
from flows.engines import asked_of, engines, planned_job
from flows.progress import shown
from flows.status import published
from flows.synthesize import RUNNER
from infra.interrupts import interrupts
from infra.llm.connect import MiniLM
from infra.ray.cluster import cluster
from infra.ray.keeper import LocalKeeper
from infra.ray.limiter import ray_limiter
from infra.ray.worker import WorkerPool
from infra.settings import settings
from infra.shards.location import Location
from infra.shards.plan import Plan, Reprocess, plan_over
from infra.shards.store import StageStore
from tasks.diversity.pool import Reservoir
from tasks.evaluation.choice import (
    BaselineSanitizer,
    ModelSanitizer,
    OutputsSanitizer,
    PresidioSanitizer,
    ServedSanitizer,
)
from tasks.evaluation.figures import Scores, by_set
from tasks.evaluation.splitting.steps import read_splits
from tasks.evaluation.steps import EvaluationJob, evaluate_shard, ids_to_judge, input_hashes
from tasks.shards.steps import MixEntry, ShardReceipt


class Asked(BaseModel):
    """What is to be evaluated, by whom."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    sanitizer: BaselineSanitizer | OutputsSanitizer | PresidioSanitizer | ServedSanitizer | MixedEngine = Field(
        description="a baseline, a file of outputs, Presidio, or a service; a model is asked by one prompt"
    )
    evaluator: MixedEngine
    second: MixedEngine | None = Field(default=None, description="asked which guess is closer, too")
    only_tests: bool = Field(description="only triplets that `privasis split` has set aside for a test")

    def serving(self, run: RunConfig) -> RunConfig:
        """Return the run with exactly the models that are needed, in the order that ``evaluation_job`` takes them."""
        models = [self.evaluator]
        models += [self.second] if self.second else []
        models += [self.sanitizer] if isinstance(self.sanitizer, MixedEngine) else []
        return run.model_copy(update={"models": tuple(models), "embedder": MiniLM()})


@dataclass(frozen=True, slots=True)
class EvaluationReport:
    """What one call of the flow did."""

    name: str
    shards_before: int
    receipts: tuple[ShardReceipt, ...]


def planned_evaluation(run: RunConfig, asked: Asked) -> EvaluationJob:
    """Return the job with endpoints that lead nowhere: enough to plan, without starting anything."""
    return evaluation_job(run, asked, planned_job(asked.serving(run)).models)


def evaluation_job(run: RunConfig, asked: Asked, models: tuple[MixEntry, ...]) -> EvaluationJob:
    """Put together what workers need.

    Args:
        run: where the data set is.
        asked: what to evaluate.
        models: the models of ``asked.serving``, in its order.
    """
    evaluator, *others = models
    second = others.pop(0) if asked.second else None
    sanitizer = ModelSanitizer(entry=others[0]) if isinstance(asked.sanitizer, MixedEngine) else asked.sanitizer
    return EvaluationJob(
        root=run.root.resolve(),
        dataset=run.dataset,
        seed=run.seed,
        config=run.evaluation,
        sanitizer=sanitizer,
        evaluator=evaluator,
        second=second,
        only_tests=asked.only_tests,
        in_flight=run.in_flight,
    )


def plan_evaluation(job: EvaluationJob, reprocess: Reprocess) -> Plan:
    """Say which of the finished shards of triplets are evaluated, and which are to be."""
    store, spec = job.store(), job.spec_hash()
    return plan_over(store, job.triplets().manifest.shards(), spec, partial(input_hashes, job), reprocess)


@flow(name="evaluate", task_runner=RUNNER)
def evaluate(
    run: RunConfig, asked: Asked, reprocess: Reprocess = "stale", only: tuple[str, ...] | None = None
) -> EvaluationReport:
    """Judge every record of the finished triplets that is to be, and is not as it stands now.

    Args:
        run: where the triplets are.
        asked: what is to be judged, by whom.
        reprocess: what to judge again.
        only: names of shards, in the order of doing: of what is to be judged, these alone.
    """
    job = planned_evaluation(run, asked)
    job.store().sweep()  # what killed runs have left
    planned = plan_evaluation(job, reprocess).only(only)
    done = planned.counts()["committed"]
    if not planned.todo:
        return EvaluationReport(job.name, done, ())
    serving = asked.serving(run)
    with engines(serving, cluster(settings().ray_address, at_least=asked_of(serving))) as served:
        return EvaluationReport(job.name, done, _on_workers(run, evaluation_job(run, asked, served.models), planned))


def _on_workers(run: RunConfig, job: EvaluationJob, planned: Plan) -> tuple[ShardReceipt, ...]:
    budget = Budget(run.budget_usd, committed_usd(job.store().manifest))
    budget.check()
    names = [shard.name for shard in planned.todo]
    rows = sum(len(ids_to_judge(job, shard)) for shard in planned.todo)
    with (
        ray_limiter() as limiter,
        # Evaluation draws nothing from the pool of vectors that workers are given.
        WorkerPool(run.workers, LocalKeeper(Reservoir(job.seed)), limiter, jobs_each=run.shards_each) as pool,
        interrupts(pool.stop),
        published(pool, job.store().layout, planned, rows, budget),
        shown(pool, rows, budget) as watch,
    ):
        futures: PrefectFutureList[ShardReceipt] = evaluate_shard.map(names, unmapped(job), unmapped(pool))
        futures.wait()  # all of them: one that fails must not stop the others
        watch.check()
        return tuple(futures.result())


SCORED = ("record_id", "domain", "failure", "second_evaluator", "targets", "retained")


def scores_of(root: Location, dataset: str, store: StageStore) -> dict[str, Scores]:
    """Return the figures of an evaluation: of all its records, of the vanilla and of the hard test."""
    return by_set(store.read("evaluations", SCORED).to_pylist(), read_splits(root, dataset))
