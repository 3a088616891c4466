"""Evaluation of triplets that the simulator made, by the simulator; without Prefect and Ray."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from flows.budget import BudgetSpent, committed_usd
from flows.commands.cost import lines_of
from flows.config import RunConfig, load_run
from flows.engines import engines
from flows.evaluate import Asked, _on_workers, evaluation_job, plan_evaluation, planned_evaluation, scores_of
from flows.sanitize import plan_sanitization, sanitization_job
from infra.llm.prices import FREE, Price
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from tasks.diversity.pool import Reservoir
from tasks.evaluation.choice import BaselineSanitizer
from tasks.evaluation.steps import make_evaluations
from tasks.evaluation.store.steps import evaluations_store
from tasks.sanitization.steps import make_triplets
from tests.flows.conftest import MadeSet


@pytest.fixture
def run(made_set: MadeSet, tmp_path: Path) -> RunConfig:
    shutil.copytree(made_set.folder, tmp_path / "tiny")
    return load_run(made_set.run_file, {"root": str(tmp_path)})


async def evaluate_all(run: RunConfig, *sanitizers: Any, price: Price = FREE) -> None:
    """Sanitize, then evaluate each of ``sanitizers``, with the simulator in every role."""
    with engines(run) as served:
        (entry,), shared = served.models, Shared()
        entry = entry.model_copy(update={"endpoint": entry.endpoint.model_copy(update={"price": price})})
        context = WorkerContext(LocalKeeper(Reservoir(0)), _shared=shared)
        for shard in plan_sanitization(run, "missing_and_failed").todo:
            await make_triplets(sanitization_job(run, served.models), shard, context)
        for sanitizer in sanitizers:
            what = Asked(sanitizer=sanitizer, evaluator=run.models[0], second=run.models[0], only_tests=False)
            job = evaluation_job(run, what, (entry,) * len(what.serving(run).models))
            for shard in plan_evaluation(job, "stale").todo:
                await make_evaluations(job, shard, context)
        await shared.close()


def test_the_simulator_answers_every_question_and_degenerate_sanitizers_score_as_they_must(run: RunConfig) -> None:
    baselines = [BaselineSanitizer(baseline=name) for name in ("triplets", "untouched", "empty")]
    asyncio.run(evaluate_all(run, *baselines, run.models[0]))
    scores = {}
    for name in ("triplets", "untouched", "empty", "simulator"):
        store = evaluations_store(run.root, run.dataset, f"{name}-by-simulator")
        scores[name] = scores_of(run.root, run.dataset, store)["all"]
        assert scores[name].unjudged == 0
        assert scores[name].no_output == {}
        assert scores[name].records == scores["triplets"].records > 0
    assert {each.name: each.share for each in scores["untouched"].leak_types}["direct"] == 1
    assert scores["untouched"].table4.attribute.value == 0
    assert scores["untouched"].table4.kept_attribute.value == 1
    assert {each.name: each.count for each in scores["empty"].leak_types}["direct"] == 0
    assert scores["empty"].table4.kept_attribute.value == 0
    assert {each.name: each.count for each in scores["triplets"].leak_types}["direct"] <= scores["triplets"].short
    assert scores["triplets"].table4.kept_attribute.value == 1
    agreed = scores["empty"].agreement
    assert agreed is not None
    assert agreed.pairs > 10


def test_what_an_evaluation_has_cost_counts_against_the_budget(run: RunConfig) -> None:
    triplets = BaselineSanitizer(baseline="triplets")
    asyncio.run(evaluate_all(run, triplets, price=Price(prompt=2, cached=0.5, completion=8)))
    asked = Asked(sanitizer=triplets, evaluator=run.models[0], second=run.models[0], only_tests=False)
    job = planned_evaluation(run, asked)
    with pytest.raises(BudgetSpent, match="is spent"):
        _on_workers(run.model_copy(update={"budget_usd": 1e-6}), job, plan_evaluation(job, "all"))
    paid = {line.group[0]: line.cost_usd for line in lines_of([run.root / run.dataset], ["stage"])}
    assert paid["evaluations"] == pytest.approx(committed_usd(job.store().manifest))
    assert paid["evaluations"] > 0
    own = job.store().layout.manifest.parents[1]  # what the page of a deployed run counts
    assert [line.cost_usd for line in lines_of([own], ["stage"])] == [pytest.approx(paid["evaluations"])]
