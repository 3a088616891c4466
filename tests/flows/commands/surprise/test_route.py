"""Routing by the simulator, without Prefect and Ray."""

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from flows.budget import BudgetSpent
from flows.commands.surprise import route
from flows.config import ConfigError, MixedEngine, Remote, RunConfig
from flows.engines import engines
from flows.surprise_route import _on_workers
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import start
from infra.llm.prices import Price
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from tasks.diversity.pool import Reservoir
from tasks.surprise.routing.steps import RouteJob, make_routed
from tests.flows.commands.surprise.shards import validation_rows, write_scores, write_without_documents

PRICE = Price(prompt=2, cached=0.5, completion=8)
ASKED = route.Asked(
    select="surprise",
    budgets=(0.2, 0.8),
    model="simulator:writer",
    judge="simulator:judge",
    whole=True,
    private=None,
    selector_usd=0.5,
    budget_usd=None,
    workers=1,
    in_flight=2,
)


@pytest.fixture
def scores(tmp_path: Path) -> Path:
    return write_scores(tmp_path / "scores", validation_rows())


async def made(config: RunConfig, job: RouteJob) -> RouteJob:
    with engines(config) as served:
        ready = job.model_copy(update={"rewriter": served.models[0], "judge": served.models[1]})
        shared = Shared()
        context = WorkerContext(LocalKeeper(Reservoir(0)), _shared=shared)
        for shard in job.plan().todo:
            await make_routed(ready, shard, context)
        await shared.close()
    return ready


def test_every_document_is_there_after_every_intervention(
    scores: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config, planned = route.job_of(scores, tmp_path / "routed", ASKED)
    job = asyncio.run(made(config, planned))
    rows = job.store().read("routed").to_pylist()
    names = ["unmodified", "surprise 20%", "surprise 80%", "document"]
    assert sorted((row["document_id"], row["intervention"]) for row in rows) == sorted(
        (f"d{place}", name) for place in range(4) for name in names
    )
    sent = {name: sum(row["sent"] for row in rows if row["intervention"] == name) for name in names}
    assert sent == {"unmodified": 0, "surprise 20%": 1, "surprise 80%": 4, "document": 4}  # five sentences in all
    first = next(row for row in rows if row["intervention"] == "surprise 20%" and row["sent"])
    assert first["private_values"] == 1
    assert {planned.state for planned in job.plan().shards} == {"committed"}

    route.report(job, ASKED.selector_usd, as_json=True)
    figures = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in figures["interventions"]] == names
    unmodified, twenty, *_ = figures["interventions"]
    assert (unmodified["security"], unmodified["bleu"]) == (0.0, 1.0)
    assert twenty["usd_per_million"] == pytest.approx(0.5)  # the simulator is free, the selector is not
    assert (tmp_path / "routed" / "route.png").read_bytes().startswith(b"\x89PNG")
    route.report(job, ASKED.selector_usd, as_json=False)
    assert "hunter2" not in capsys.readouterr().out


def test_budgets_that_are_close_stay_apart(scores: Path, tmp_path: Path) -> None:
    _, job = route.job_of(scores, tmp_path / "routed", replace(ASKED, budgets=(0.1, 0.104, 0.29, 1.0)))
    assert list(job.cuts()) == ["surprise 10%", "surprise 10.4%", "surprise 29%", "surprise 100%"]


def test_a_spent_budget_begins_nothing_new(scores: Path, tmp_path: Path) -> None:
    config, planned = route.job_of(scores, tmp_path / "routed", replace(ASKED, budget_usd=1e-6))
    with start(SimulatorConfig(seed=4)) as simulator:
        engine = MixedEngine(
            engine=Remote(model=simulator.model, base_url=simulator.base_url, api_key_env=None, price=PRICE)
        )
        priced = config.model_copy(update={"models": (engine, engine)})
        job = asyncio.run(made(priced, planned))
    with pytest.raises(BudgetSpent, match="--budget-usd"):
        _on_workers(priced, job, job.plan())


def test_another_choice_of_sentences_makes_the_shards_stale(scores: Path, tmp_path: Path) -> None:
    _, first = route.job_of(scores, tmp_path / "routed", ASKED)
    _, other = route.job_of(scores, tmp_path / "routed", replace(ASKED, select="random"))
    assert first.spec_hash() != other.spec_hash()


def test_what_cannot_be_is_refused(scores: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.1,\.2,\.8"):
        route.budgets_of("10")
    assert route.budgets_of(".1,.2,.8") == (0.1, 0.2, 0.8)
    with pytest.raises(ConfigError, match="no prompted scores"):
        route.job_of(scores, scores.parent / "routed", replace(ASKED, select="prompted"))
    with pytest.raises(ConfigError, match="surprise, prompted"):
        route.job_of(scores, scores.parent / "routed", replace(ASKED, select="luck"))


def test_scores_without_a_document_are_refused_with_where_the_rejects_are(tmp_path: Path) -> None:
    scores = write_without_documents(tmp_path / "scores")
    for select in ("surprise", "random", "stm"):
        with pytest.raises(ConfigError, match="score_rejects"):
            route.job_of(scores, tmp_path / "routed", replace(ASKED, select=select))
