import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.report import summary_of
from tasks.synthesis.estimate import shipped
from tasks.synthesis.steps import records_store
from tests.flows.conftest import MadeSet

run = CliRunner()


def estimated(*arguments: object) -> dict[str, Any]:
    result = run.invoke(app, ["estimate", "--json", *map(str, arguments)])
    assert result.exit_code == 0, result.stderr
    figures: dict[str, Any] = json.loads(result.stdout)
    return figures


def test_what_the_same_settings_have_taken_is_what_as_many_more_records_will_take(made_set: MadeSet) -> None:
    spent = summary_of(records_store(made_set.folder.parent, "tiny")).spending[0]
    outlook = estimated("-c", made_set.run_file, "--first", 12, "--records", 12)
    assert outlook["rows"] == 12
    assert outlook["calls"] == spent.calls == sum(step["calls"] for step in outlook["steps"])
    tokens = outlook["tokens"]
    assert (tokens["prompt"], tokens["cached"], tokens["completion"]) == (spent.prompt, spent.cached, spent.completion)
    assert {step["step"] for step in outlook["steps"]} == set(shipped().steps)  # the shipped table knows every step
    assert "measured on 12 rows" in outlook["notes"][1]


def test_finished_records_are_not_counted_again(made_set: MadeSet) -> None:
    outlook = estimated("-c", made_set.run_file, "--records", 20)
    assert outlook["rows"] == 8
    assert outlook["notes"][-1].startswith("12 records of the 20 asked for")


def test_other_settings_are_estimated_from_the_shipped_table(made_set: MadeSet) -> None:
    outlook = estimated("-c", made_set.run_file, "--first", 12, "--words", 344, "--refinement-steps", 3)
    assert outlook["rates"]["draft"] == shipped().steps["draft"].model_dump()
    assert "records of the simulator" in outlook["notes"][1]


def test_hours_come_from_a_given_speed_or_from_finished_shards(made_set: MadeSet, tmp_path: Path) -> None:
    given = estimated("--root", tmp_path, "--model", "simulator:s", "--calls-per-second", 10)
    assert given["hours"] == pytest.approx(given["calls"] / 10 / 3600)
    assert estimated("--root", tmp_path, "--model", "simulator:s")["hours"] is None
    measured = estimated("-c", made_set.run_file, "--first", 12)
    assert measured["hours"] > 0
    assert "as fast as the finished shards were made" in measured["notes"][0]


def test_a_mix_costs_by_price_and_weight(tmp_path: Path) -> None:
    common = ("--root", tmp_path, "--records", 1000)
    dear = estimated(*common, "--model", "openai:gpt-4.1")["cost_usd"]
    mixed = estimated(*common, "--model", "openai:gpt-4.1=1", "--model", "simulator:s=3")
    assert dear > 1
    assert mixed["cost_usd"] == pytest.approx(dear / 4)
    assert [model["rows"] for model in mixed["models"]] == [250, 750]


def test_a_price_nobody_has_said_is_asked_for_before_anything_starts() -> None:
    result = run.invoke(app, ["estimate", "--model", "openai:nobody/knows"])
    assert result.exit_code == 2
    assert "no price known for model 'nobody/knows'" in result.stderr


def test_the_table_ends_with_the_sums(tmp_path: Path) -> None:
    result = run.invoke(app, ["estimate", "--root", str(tmp_path), "--model", "simulator:s", "--records", "1000"])
    assert result.exit_code == 0
    assert re.search(r"^ 1,000 rows +15,000 +[0-9,]+ +[0-9,]+ +[0-9,]+ +\$0\.00 *$", result.stdout, re.MULTILINE)
    assert "--calls-per-second" in result.stdout
