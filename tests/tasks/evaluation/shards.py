"""Triplets of two shards, and how to evaluate them in process."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from flows.config import MixedEngine, Remote, RunConfig
from flows.evaluate import Asked, planned_evaluation
from infra.llm.fake import FakeBackend
from infra.llm.prices import FREE
from infra.llm.types import Request
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from tasks.diversity.pool import Reservoir
from tasks.evaluation.choice import BaselineSanitizer
from tasks.evaluation.steps import EvaluationJob, make_evaluations
from tasks.shards.steps import ShardReceipt
from tests.tasks.evaluation.script import line
from tests.tasks.sanitization.script import QUOTED, to_json
from tests.tasks.sanitization.shards import FIRST, SECOND, commit_records, made
from tests.tasks.synthesis.script import Answer

JUDGE = MixedEngine(engine=Remote(model="judge", base_url="http://localhost:9/v1", api_key_env=None, price=FREE))


async def sanitized(root: Path) -> RunConfig:
    """Make five records into four triplets; the third is none."""
    run = RunConfig(dataset="tiny", root=root, seed=7, in_flight=2, models=(JUDGE,))
    for shard in (FIRST, SECOND):
        commit_records(root, shard)
        await made(run, shard)
    return run


def asked(baseline: str = "triplets", *, only_tests: bool = False) -> Asked:
    return Asked(
        sanitizer=BaselineSanitizer.model_validate({"baseline": baseline}), evaluator=JUDGE, only_tests=only_tests
    )


def judge(request: Request) -> str:
    """Guess wrongly from a clean text and rightly from the original, and say so."""
    prompt = request.messages[1].content
    match request.tags["step"].partition("-")[0]:
        case "guess":
            return to_json({"guess": "no idea"})
        case "original":
            return to_json({"guess": QUOTED.findall(prompt)[0][1][:40]})
        case "closer":
            return to_json({"closer": "B" if line(prompt, "Guess A: ") == "no idea" else "A"})
        case _:
            return to_json({"present": False})


async def evaluate(
    run: RunConfig,
    job: EvaluationJob,
    shard: object,
    answer: Callable[[Request], Answer] = judge,
    context: WorkerContext | None = None,
) -> tuple[ShardReceipt, FakeBackend]:
    """Evaluate a shard with a backend in process in the place of the run's evaluator."""
    backend, shared = FakeBackend(answer, "judge"), Shared()
    await shared.get(job.evaluator.endpoint.model_dump_json(), lambda: backend)
    context = replace(context or WorkerContext(LocalKeeper(Reservoir(0))), _shared=shared)
    return await make_evaluations(job, shard, context), backend  # type: ignore[arg-type]


def job_of(run: RunConfig, what: Asked | None = None) -> EvaluationJob:
    return planned_evaluation(run, what or asked())
