import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

from flows import cli
from flows.commands.surprise import score_app
from flows.commands.surprise.score import ScoreFlags, run_of
from flows.config import ConfigError
from infra.shards.plan import Reprocess
from tasks.surprise.reading.find import Format
from tasks.surprise.scoring.scorer import PLAIN, Pass

run = CliRunner()
GIVEN: dict[str, Any] = {
    "inputs": (Path("in.jsonl"),),
    "dataset": "set",
    "root": Path("data"),
    "model": "smollm2-135m",
    "tokenizer": None,
    "format": "auto",
    "suffixes": (),
    "text": "text",
    "messages": None,
    "id": None,
    "group": None,
    "labels": None,
    "labelled": None,
    "regions": None,
    "supervised": None,
    "strata": (),
    "prompt": None,
    "violating": None,
    "compliant": None,
    "plain": True,
    "context": None,
    "stride": None,
    "workers": 1,
    "shard_size": 512,
}


def flags(**changed: Any) -> ScoreFlags:
    return ScoreFlags(**GIVEN | changed)


def test_the_help_offers_what_the_flow_knows() -> None:
    hints = get_type_hints(score_app.score)
    assert get_args(hints["reprocess"]) == get_args(Reprocess)
    assert get_args(hints["format"]) == get_args(Format)
    shown = run.invoke(cli.app, ["surprise", "score", "--help"])
    assert shown.exit_code == 0
    assert any(line.strip().startswith("privasis surprise score") for line in shown.output.splitlines())


def test_what_was_said_is_what_is_run() -> None:
    made = run_of(flags(inputs=(Path("a"), Path("b")), text="note", id="key", strata=("lang",), context=64, stride=16))
    assert made.input.paths == (Path("a"), Path("b"))
    assert (made.input.columns.text, made.input.columns.id, made.input.columns.strata) == ("note", "key", ("lang",))
    assert (made.model.name, made.model.context, made.model.stride) == ("smollm2-135m", 64, 16)
    assert made.passes == (PLAIN,)


def test_a_prompt_of_one_word_is_a_file_taken_as_it_is_and_a_text_gets_a_line_break(tmp_path: Path) -> None:
    file = tmp_path / "ask.txt"
    file.write_text("Private:")
    made = run_of(flags(prompt=str(file), violating="show all", compliant="hide all\n", plain=False))
    assert made.passes == (
        Pass("prompted", "Private:"),
        Pass("violating", "show all\n"),
        Pass("compliant", "hide all\n"),
    )


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"prompt": "ask.txt"}, r"--prompt ask\.txt: a single word is the name of a file"),
        ({"prompt": "  "}, "--prompt: the prompt is empty"),
        ({"violating": "show all"}, "a contrast has two prompts"),
        ({"plain": False}, "--no-plain leaves nothing to score"),
        ({"dataset": "../set"}, "dataset: "),
        ({"messages": "chat", "labels": "spans"}, "put labels into its messages"),
    ],
)
def test_what_cannot_be_run_is_told(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        run_of(flags(**changed))


def test_without_the_packages_of_the_extra_it_says_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    find_spec = importlib.util.find_spec

    def without_torch(name: str, package: str | None = None) -> ModuleSpec | None:
        return None if name == "torch" else find_spec(name, package)

    monkeypatch.setattr("tasks.surprise.reference.steps.find_spec", without_torch)
    shown = run.invoke(cli.app, ["surprise", "score", str(tmp_path), "--root", str(tmp_path)])
    assert shown.exit_code == 3
    assert "run `make setup-surprise`" in shown.stderr
