"""What a run costs: as estimated, as reported, and no more than its budget."""

import json
import re
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from flows.budget import Budget, BudgetSpent, committed_usd
from flows.cli import app
from flows.commands.cost import Line, lines_of, table_of
from flows.config import MixedEngine, Remote, RunConfig, load_run
from flows.progress import Watch, detail_of, pace_of
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.llm.connect import Endpoint, OpenAIEmbedding
from infra.llm.prices import Price
from infra.llm.types import BackendGone
from tasks.synthesis.config import SynthesisConfig
from tests.faults.small_runs import make, rows_of, run_on, store_of
from tests.faults.small_triplets import outcomes_of, sanitize

run = CliRunner()
PRICE = Price(prompt=2, cached=0.5, completion=8)
EMBEDDING_PRICE = Price(prompt=0.1, cached=0.1, completion=0)


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig(seed=4)) as running:
        yield running


def priced(simulator: Simulator, root: Path, **changed: Any) -> RunConfig:
    common = {"base_url": simulator.base_url, "api_key_env": None, "model": simulator.model}
    embedding = Endpoint(**common, price=EMBEDDING_PRICE)
    return run_on(
        simulator,
        root,
        models=(MixedEngine(engine=Remote(**common, price=PRICE)),),
        embedder=OpenAIEmbedding(endpoint=embedding, dimension=simulator.dimension),
        **changed,
    )


@pytest.mark.parametrize("words", [200, 344])
def test_an_estimate_comes_within_15_percent_of_what_the_run_then_costs(
    simulator: Simulator, tmp_path: Path, words: int
) -> None:
    config = priced(simulator, tmp_path, synthesis=SynthesisConfig(words=words), records=16, dataset="small")
    file = tmp_path / "run.toml"
    file.write_text(RUN.format(root=tmp_path, base_url=simulator.base_url, words=words), encoding="utf-8")
    told = run.invoke(app, ["estimate", "-c", str(file), "--json"])
    assert told.exit_code == 0, told.stderr
    make(config)
    cost = sum(row["cost_usd"] for row in rows_of(config).values())
    assert json.loads(told.stdout)["cost_usd"] == pytest.approx(cost, rel=0.15)


RUN = """
root = "{root}"
dataset = "small"
records = 16
synthesis = {{ words = {words} }}
[[models]]
[models.engine]
kind = "openai"
model = "simulator"
base_url = "{base_url}"
api_key_env = "NO_KEY"
price = {{ prompt = 2, cached = 0.5, completion = 8 }}
"""


def test_failed_tries_and_embeddings_are_in_the_bill_and_the_bill_is_the_servers(tmp_path: Path) -> None:
    with start(SimulatorConfig(seed=4, fault_rate=0.1, faults=("unavailable", "truncated"))) as simulator:
        config = priced(simulator, tmp_path, records=8)
        make(config)
        seen = simulator.statistics()
    folder = tmp_path / "small"
    by_step = {line.group[0]: line for line in lines_of([folder], ["step"])}
    assert by_step["(failed tries)"].failed_tries == seen.answers["unavailable"]
    assert lines_of([folder], ["dataset"])[0].failed_tries == seen.answers["unavailable"]
    assert lines_of([folder], ["dataset"])[0].calls == sum(row["calls"] for row in rows_of(config).values())
    assert by_step["(embedding)"].prompt > 0
    everything = lines_of([folder], ["dataset"])[0]
    assert everything.prompt == seen.prompt_tokens
    assert everything.completion == seen.completion_tokens
    assert everything.cost_usd == pytest.approx(committed_usd(store_of(config).manifest))
    rows = sum(row["cost_usd"] for row in rows_of(config).values())
    assert everything.cost_usd == pytest.approx(rows + by_step["(embedding)"].prompt * 0.1 / 1e6)
    manifest = next(iter(store_of(config).manifest.records().values())).summary
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", manifest.versions["prices"])

    shown = run.invoke(app, ["cost", str(folder), "--by", "stage,step"])
    assert shown.exit_code == 0, shown.stderr
    assert re.search(r"records +draft", shown.stdout)
    told = json.loads(run.invoke(app, ["cost", str(folder), "--by", "model", "--json"]).stdout)
    assert [line["model"] for line in told] == ["simulator"]
    assert run.invoke(app, ["cost", str(folder), "--by", "colour"]).exit_code == 2


def test_what_is_begun_and_not_finished_has_no_bill_yet_and_the_command_says_who_knows(tmp_path: Path) -> None:
    folder = tmp_path / "begun"
    (folder / "journal" / "records").mkdir(parents=True)
    (folder / "journal" / "records" / "part-00000000-00000010.journal").touch()
    shown = run.invoke(app, ["cost", str(folder)])
    assert shown.exit_code == 0, shown.stderr
    assert f"Not in it: 1 unfinished shard of {folder}: `privasis status {folder}` says" in shown.stdout
    assert json.loads(run.invoke(app, ["cost", str(folder), "--json"]).stdout) == []


def test_no_figure_of_a_bill_is_cut_off_on_a_terminal_of_80_columns() -> None:
    group = ("a-data-set-of-letters", "records", "gpt-4.1-mini-2025-04-14")
    figures = {"prompt": 123_456_789, "cached": 98_765_432, "completion": 87_654_321}
    line = Line(group, calls=234_567, failed_tries=1_234, **figures, cost_usd=12_345.67)
    console = Console(width=80, file=StringIO())
    console.print(table_of([line], ["dataset", "stage", "model"]))
    assert isinstance(console.file, StringIO)
    shown = console.file.getvalue()
    assert "…" not in shown
    for figure in ("234,567", "1,234", "123,456,789", "98,765,432", "87,654,321", "$12,345.67"):
        assert shown.count(figure) >= 2  # in its line, and among the sums


def test_a_small_budget_is_told_as_it_was_given() -> None:
    assert Budget(0.005, 0.0).message(0.0163).startswith("the budget of $0.0050 is spent: $0.0163 so far")


class Stoppable:
    """A pool whose jobs have counted something; it remembers being stopped."""

    def __init__(self, counters: dict[str, int]) -> None:
        self.counters, self.stops = counters, 0

    def progress(self) -> dict[str, dict[str, int]]:
        return {"part-0": self.counters}

    def stop(self) -> None:
        self.stops += 1


def test_the_pool_is_stopped_once_when_the_budget_is_spent_and_the_message_says_what_to_do() -> None:
    pool = Stoppable({"microdollars": 600_000, "microdollars_beside": 300_000})
    watch = Watch(pool, 100, Budget(limit_usd=2.0, before_usd=1.0))  # type: ignore[arg-type]
    watch.look()
    watch.check()
    assert pool.stops == 0
    pool.counters["microdollars"] = 700_000
    watch.look()
    watch.look()
    pool.counters["microdollars"] = 950_000  # what was in flight has ended
    with pytest.raises(BudgetSpent, match=r"the budget of \$2\.00 is spent: \$2\.25 so far.*--budget"):
        watch.check()
    assert pool.stops == 1


def test_a_run_whose_budget_is_spent_does_not_start_and_a_larger_one_does(simulator: Simulator, tmp_path: Path) -> None:
    config = priced(simulator, tmp_path, records=8)
    make(config)
    before = committed_usd(store_of(config).manifest)
    with pytest.raises(BudgetSpent):
        Budget(before / 2, before).check()
    Budget(before * 2, before).check()
    Budget(None, before).check()


def test_the_progress_line_tells_cost_and_projection() -> None:
    sums = {"records": 20, "quarantined": 5, "calls": 300, "tokens": 9000, "microdollars": 500_000}
    assert detail_of(sums, 100) == "300 calls, 9,000 tokens, 5 rejected, $0.5000 of about $2.00"
    assert "$" not in detail_of({"records": 20}, 100)


def test_the_progress_line_tells_the_rate_of_the_last_minute_and_the_time_to_go() -> None:
    watch = Watch(Stoppable({}), 600)  # type: ignore[arg-type]
    assert watch.rows_per_s(0, 100.0) == 0.0
    assert watch.rows_per_s(30, 110.0) == 3.0
    assert watch.rows_per_s(90, 165.0) == (90 - 30) / (165 - 110)  # what came before the last minute does not count
    assert pace_of(3.0, 600 - 90) == ", 180.0 a minute, 3 minutes to go"
    assert pace_of(0.0, 510) == ""


def two_models(first: Simulator, second: Simulator, root: Path, policy: str) -> RunConfig:
    engines = [
        Remote(model=each.model, base_url=each.base_url, api_key_env=None, price=PRICE) for each in (first, second)
    ]
    return run_on(
        first, root, records=12, on_model_failure=policy, models=tuple(MixedEngine(engine=each) for each in engines)
    )


def test_a_revoked_key_stops_the_run_with_one_message_or_hands_its_records_over(tmp_path: Path) -> None:
    with start(SimulatorConfig(model="good")) as good, start(SimulatorConfig(model="bad")) as bad:
        bad.set_faults(1.0, "key_revoked")
        stopping = two_models(good, bad, tmp_path / "stop", "stop")
        with pytest.raises(BackendGone, match=r"^bad: HTTP 401: the key is wrong"):
            make(stopping)
        refused = bad.statistics().requests
        assert refused <= 3 * stopping.in_flight * stopping.shards_each
        bad.set_faults(1.0, "model_gone")
        going_on = two_models(good, bad, tmp_path / "go", "hand_over")
        make(going_on)
        assert bad.statistics().requests - refused <= 3 * going_on.in_flight * going_on.shards_each
    rows = rows_of(going_on)
    assert len(rows) == 12
    assert {row["model"] for row in rows.values()} == {"good"}


def test_the_policy_and_the_budget_do_not_make_finished_shards_stale(simulator: Simulator, tmp_path: Path) -> None:
    from flows.engines import planned_job

    config = priced(simulator, tmp_path)
    other = config.model_copy(update={"on_model_failure": "hand_over", "budget_usd": 5.0})
    assert planned_job(config).spec_hash() == planned_job(other).spec_hash()
    assert load_run(None, {"budget_usd": 5}).budget_usd == 5


@pytest.mark.parametrize("words", [100, 250])
def test_an_estimate_of_sanitizing_comes_within_15_percent_of_what_it_then_costs(
    simulator: Simulator, tmp_path: Path, words: int
) -> None:
    config = priced(simulator, tmp_path, synthesis=SynthesisConfig(words=words), records=16, dataset="small")
    make(config)
    file = tmp_path / "run.toml"
    file.write_text(RUN.format(root=tmp_path, base_url=simulator.base_url, words=words), encoding="utf-8")
    told = run.invoke(app, ["estimate", "-c", str(file), "--of", "sanitize", "--json"])
    assert told.exit_code == 0, told.stderr
    sanitize(config)
    cost = sum(row["cost_usd"] for row in outcomes_of(config).values())
    assert json.loads(told.stdout)["cost_usd"] == pytest.approx(cost, rel=0.15)
