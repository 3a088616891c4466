import importlib.util
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from typer.testing import CliRunner

from flows import cli
from flows.commands.errors import RunFailed
from flows.commands.surprise import score_app
from flows.commands.surprise.score import ScoreFlags, check_some, run_of
from flows.config import ConfigError
from flows.surprise_score import ScoreReport
from infra.shards.plan import Reprocess
from tasks.surprise.reading.find import Format
from tasks.surprise.scoring.scorer import PLAIN, Pass
from tasks.surprise.steps import ScoreReceipt

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
        ({"messages": "chat", "labels": "spans"}, "^input.columns: labels, regions .* put labels into its messages"),
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


def receipt(documents: int, **reasons: int) -> ScoreReceipt:
    return ScoreReceipt("part-0", documents, 0, 0, {}, reasons)


def test_a_data_set_without_one_document_is_no_success() -> None:
    nothing = ScoreReport("set", 0, (receipt(0, bad_text=3), receipt(0, empty_text=1)))
    with pytest.raises(RunFailed, match=r"not one row .*, 3 of 4 for bad_text: .* set/score_rejects, mend") as told:
        check_some(nothing, Path("set/score_rejects"))
    assert told.value.code == 2
    check_some(ScoreReport("set", 1, (receipt(0, blank_line=1),)), Path("rejects"))  # rows were added to others
    check_some(ScoreReport("set", 0, (receipt(0, blank_line=1), receipt(1))), Path("rejects"))


def test_a_name_that_no_data_set_can_have_is_told_with_what_one_may_be() -> None:
    with pytest.raises(ConfigError, match=r"^--dataset \.\./set: a name, of letters, .* is --root$"):
        run_of(flags(dataset="../set"))
