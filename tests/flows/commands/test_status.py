import io
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import get_args

import pytest
from rich.console import Console
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.status import Stage, Status, plain, status_of, view
from flows.commands.status_view import _ADVICE, run_view
from flows.config import ConfigError
from flows.status_file import FOLDER, Life, write
from infra.histogram import SECONDS, TOKENS, Histogram, Spread
from infra.run_state import (
    Money,
    Rates,
    RunState,
    ServerState,
    ShardCounts,
    StepState,
    Waits,
    WorkerState,
)
from infra.shards.owner import Owner

BEGAN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
NOW = BEGAN + timedelta(minutes=30)


def spread(bounds: tuple[float, ...], *values: float) -> Spread:
    histogram = Histogram(bounds)
    for value in values:
        histogram.add(value)
    return histogram.spread()


def step(name: str, seconds: float, answering: float, calls: int = 10) -> StepState:
    return StepState(
        step=name,
        model="gpt-x",
        seconds=spread(SECONDS, *[seconds] * calls),
        answering=spread(SECONDS, *[answering] * calls),
        prompt=spread(TOKENS, *[900.0] * calls),
        completion=spread(TOKENS, *[210.0] * calls),
    )


STATE = RunState(
    dataset="records",
    stage="records",
    owner=Owner(host="lovelace", place="", pid=4242, started=""),
    began_at=BEGAN,
    written_at=NOW,
    metrics_url="http://127.0.0.1:9464/metrics",
    rows=1000,
    done={"records": 240, "filtered": 8, "quarantined": 2},
    eta_s=5400.0,
    rates=Rates(rows=0.139, calls=2.5, prompt_tokens=2250, completion_tokens=525),
    money=Money(spent_usd=2.5, projected_usd=10.0, limit_usd=8.0),
    shards=ShardCounts(committed=1, running=2, waiting=5),
    shard_waits={"worker": 4, "lease": 1},
    workers=(
        WorkerState(
            index=0,
            answers=True,
            host="lovelace",
            pid=51,
            shards=("part-00000128-00000256",),
            waits={"engine": 12, "rate limit": 52},
        ),
        WorkerState(
            index=1,
            answers=True,
            host="hopper",
            pid=52,
            shards=("part-00000256-00000384",),
            waits={"engine": 10, "rate limit": 51, "next try": 3},
        ),
        WorkerState(index=2, answers=False, host="hopper", pid=53),
    ),
    servers=(ServerState(server="OpenAI gpt-x", open=22, waiting=103, width=64, waits_for="the rate limit"),),
    steps=(step("draft", 12.0, 3.0), step("label", 0.4, 0.4), step("revise", 30.0, 8.0)),
    failures={"gpt-x": {"http_429": 31, "timeout": 2}},
)


def text_of(state: RunState = STATE, life: Life = "runs", width: int = 110, now: datetime = NOW) -> str:
    console = Console(file=io.StringIO(), width=width)
    with console.capture() as captured:
        console.print(run_view(state, life, now))
    return captured.get()


@pytest.mark.parametrize(
    "said",
    [
        "records · records · has run for 30 minutes, process 4242 on lovelace",
        "250 of 1,000, 25.0%",
        "1 committed, 2 in work, 5 to be begun",
        "8.3 rows a minute, 2.5 calls a second, 2,250 tokens read and 525 written a second",
        "90 minutes",
        "$2.50 of about $10.00, budget $8.00",
        "103 of 128 wait for: rate limit: the account's quota is what holds it",
        "shards that no worker has: worker 4, lease 1",
        "rate limit 51, engine 10, next try 3",
        "does not answer",
        "failed tries of gpt-x: http_429 31, timeout 2",
        "http://127.0.0.1:9464/metrics",
    ],
)
def test_a_run_is_shown_with_all_that_is_known_of_it(said: str) -> None:
    flat = " ".join(text_of(width=160).replace("│", " ").split())
    assert said in flat


def test_the_steps_that_take_most_time_come_first_with_the_share_that_they_wait() -> None:
    lines = text_of().splitlines()
    rows = [line.strip("│ ").split() for line in lines if " gpt-x " in line and "%" in line]
    assert [row[0] for row in rows] == ["revise", "draft", "label"]
    assert rows[1][2:4] == ["10", "28.3%"]  # 120 of 424 s
    assert rows[1][6:] == ["75.0%", "900", "210"]


def test_a_standstill_is_said() -> None:
    assert "It stands: no row, no answer for 2 minutes" in text_of(STATE.model_copy(update={"still_s": 120.0}))
    assert "It stands" not in text_of()


@pytest.mark.parametrize(
    ("life", "said"),
    [
        ("died", "killed about 60 minutes ago, after 30 minutes"),
        ("died", "the same command goes on where it stood"),
        ("silent", "has said nothing for 60 minutes, process 4242 on lovelace"),
    ],
)
def test_a_run_that_no_longer_says_anything_is_no_run_that_lives(life: Life, said: str) -> None:
    assert said in text_of(life=life, now=NOW + timedelta(hours=1), width=160)


def test_a_run_that_is_stopping_says_so() -> None:
    assert "is stopping after 30 minutes" in text_of(STATE.model_copy(update={"stopping": True}))


def test_a_run_that_is_over_says_how_it_ended_and_not_what_it_waits_for() -> None:
    over = STATE.model_copy(update={"ended_at": NOW, "ended_with": "BudgetSpent"})
    shown = text_of(over, "ended", now=NOW + timedelta(minutes=5))
    assert "stopped (BudgetSpent) 5 minutes ago, after 30 minutes" in shown
    assert "wait for" not in shown
    assert "revise" in shown
    well = text_of(over.model_copy(update={"ended_with": ""}), "ended")
    assert " ended " in well


def test_there_is_advice_for_everything_that_can_be_waited_for() -> None:
    assert set(_ADVICE) == set(get_args(Waits))


def test_names_that_others_have_chosen_move_no_cursor() -> None:
    evil = STATE.model_copy(update={"failures": {"gpt\x1b[2J": {"http_\x07500": 1}}, "dataset": "x\x1b]0;y\x07"})
    shown = text_of(evil)
    assert "\x1b" not in shown
    assert "\x07" not in shown


@pytest.fixture
def dataset(tmp_path: Path) -> Path:
    home = tmp_path / "tiny"
    for place in ("manifest/records/part-00000000-00000010.json", "journal/records/part-00000010-00000020.journal"):
        (home / place).parent.mkdir(parents=True)
        (home / place).touch()
    (home / FOLDER).mkdir()
    return home


def test_what_is_there_is_told_without_a_run(dataset: Path) -> None:
    status = status_of(dataset)
    assert status == Status(dataset, (), (Stage("records", 1, 10, 1),))
    console = Console(file=io.StringIO(), width=100)
    console.print(view(status, NOW))


def test_a_run_file_says_how_much_is_wanted(dataset: Path) -> None:
    file = dataset.parent / "run.toml"
    file.write_text(f'dataset = "tiny"\nroot = "{dataset.parent}"\nrecords = 40\n')
    said = CliRunner().invoke(app, ["status", "-c", str(file), "--json"])
    assert json.loads(said.stdout)["stages"] == [{"name": "records", "shards": 1, "rows": 10, "begun": 1, "wanted": 40}]


def test_the_command_prints_the_run_for_a_person_and_for_a_program(dataset: Path) -> None:
    ended = STATE.model_copy(update={"ended_at": NOW})
    write(dataset / FOLDER / "records-1.json", ended)
    shown = CliRunner().invoke(app, ["status", str(dataset)])
    assert shown.exit_code == 0
    assert "250 of 1,000" in shown.stdout
    assert "No run" not in shown.stdout
    told = json.loads(CliRunner().invoke(app, ["status", str(dataset), "--json"]).stdout)
    assert told == plain(status_of(dataset))
    assert (told["runs"][0]["life"], told["runs"][0]["done"]["records"]) == ("ended", 240)


def test_watching_a_run_that_is_over_ends_at_once(dataset: Path) -> None:
    write(dataset / FOLDER / "records-1.json", STATE.model_copy(update={"ended_at": NOW}))
    assert "250 of 1,000" in CliRunner().invoke(app, ["status", str(dataset), "--watch"]).stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "say which data set"),
        (["nowhere"], "no data set here"),
        (["nowhere", "--watch", "--json"], "leave one out"),
    ],
)
def test_what_cannot_be_shown_is_said(arguments: list[str], said: str, tmp_path: Path) -> None:
    result = CliRunner().invoke(
        app, ["status", *(str(tmp_path / each) if each == "nowhere" else each for each in arguments)]
    )
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_folder_without_a_data_set_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="no data set here"):
        status_of(tmp_path)
