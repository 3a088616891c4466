import io
from pathlib import Path

import pytest
from rich.console import Console, RenderableType
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.preview import render_call, render_outcome
from infra.llm.types import Message, Reply, Request, Usage
from tasks.ask import StepSpent
from tasks.synthesis.outcome import Identity, Reject, Spent
from tests.flows.conftest import MadeSet

run = CliRunner()


def printed(renderable: RenderableType) -> str:
    console = Console(width=100, file=io.StringIO(), record=True, force_terminal=True)
    console.print(renderable)
    return console.export_text()


def test_every_call_of_a_record_is_shown_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    flags = ["--model", "simulator:s", "--set", "embedder.kind=simulator", "--words", "200", "--refinement-steps", "1"]
    result = run.invoke(app, ["preview", "-n", "2", "--first", "3", *flags])
    assert result.exit_code == 0, result.stderr
    steps = ["profile", "details", "record_types", "contexts", "formats", "draft", "revise-1", "judge-1"]
    for number, step in enumerate([*steps, "attributes", "groups", "label"], start=1):
        assert f" {number}. {step} " in result.stdout
    assert " record 3 " in result.stdout
    assert " record 4 " in result.stdout
    assert result.stdout.count("revisions 1: ") == 2
    assert list(tmp_path.iterdir()) == []


def test_the_same_record_comes_again(tmp_path: Path) -> None:
    flags = ["--root", str(tmp_path), "--model", "simulator:s", "--set", "embedder.kind=simulator"]
    flags += ["--refinement-steps", "0", "--words", "200"]
    first, second = (run.invoke(app, ["preview", "--first", "7", *flags]).stdout for _ in range(2))
    assert without_times(first) == without_times(second) != ""


def test_a_triplet_is_made_of_a_record_of_the_data_set_or_else_of_a_new_one(
    made_set: MadeSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    made = run.invoke(app, ["preview", "--triplet", "-c", str(made_set.run_file), "--first", "11", "-n", "2"])
    assert made.exit_code == 0, made.stderr
    first, second = made.stdout.split(" record 12 ")
    assert " record 11 " in first
    assert " 1. weights " in first  # the data set has 12 records: this one is not made again
    assert ". draft " in second
    for shown in (first, second):
        assert ". request " in shown
        assert "original" in shown
        assert "to stay as it is" in shown
    assert list(tmp_path.iterdir()) == []


def without_times(shown: str) -> list[str]:
    return [line for line in shown.splitlines() if "tokens read" not in line]


def test_markup_and_control_codes_of_a_reply_are_shown_not_obeyed() -> None:
    request = Request((Message("user", "[bold]Write[/bold]"),), tags={"step": "draft", "attempt": "1"})
    reply = Reply("[red]x[/red] \x1b[31m [/nothing]", "length", Usage(1_200, 0, 34), "[blink]m", "[link]because", 1.25)
    shown = printed(render_call(6, request, reply))
    for literal in ("[bold]Write[/bold]", "[red]x[/red] ⟨U+001B⟩[31m [/nothing]", "[link]because", "[blink]m"):
        assert literal in shown
    assert " 6. draft, asked again (1) " in shown
    assert "1,200 tokens read, 34 written, 1.2 s, cut off at its limit" in shown


def test_a_reject_says_where_and_why() -> None:
    reject = Reject(
        identity=Identity("r-1", 0, 1, "m", "English"),
        outcome="filtered",
        step="draft",
        reason="too_short",
        detail="It has [3] words.",
        last_reply=None,
        spent=Spent({"draft": StepSpent(2, Usage())}, 0.5),
    )
    shown = printed(render_outcome(reject))
    assert " filtered at step draft: too_short " in shown
    assert "It has [3] words." in shown
    assert " 2 calls, $0.5000 " in shown


@pytest.mark.parametrize("records", ["0", "6"])
def test_one_to_five_records_are_shown(records: str) -> None:
    assert run.invoke(app, ["preview", "-n", records]).exit_code == 2
