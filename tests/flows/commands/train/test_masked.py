"""The command of masked training, up to where processes start; the flow has a test of its own."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from tasks.training.masked.steps import read_coverage
from tests.flows.commands.surprise.shards import write_scores
from tests.tasks.training.masked.test_maskings import policy, scored

runner = CliRunner()


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Scored texts, and a policy beside them."""
    write_scores(tmp_path / "scores", scored(6).table.to_pylist())
    (tmp_path / "SM95.json").write_text(policy().to_json())
    return tmp_path / "scores"


def refused(folder: Path, *arguments: str) -> str:
    asked = ["train", "masked", "--data", str(folder), "--masks", str(folder.parent / "masks")]
    result = runner.invoke(app, [*asked, "-o", str(folder.parent / "out"), *arguments])
    assert result.exit_code == 2, result.output
    return " ".join(result.output.replace("│", " ").split())


def test_the_help_has_examples() -> None:
    shown = runner.invoke(app, ["train", "masked", "--help"])
    assert shown.exit_code == 0
    assert "privasis train masked --data" in shown.output


def test_what_is_wrong_is_told_before_anything_is_trained(data: Path) -> None:
    chosen = ("--tokenizer", "300", "--policy", str(data.parent / "SM95.json"))
    assert "no such file" in refused(data, *chosen, "--deepspeed", "nowhere.json")
    assert not (data.parent / "masks").exists()
    assert "SM90: no such masking: unmasked, oracle, SM95, random:SM95, goldfish:2" in refused(
        data, *chosen, "--masking", "SM90"
    )
    assert "smollm2-135m has its own; leave it out" in refused(
        data, *chosen, "--model", "smollm2-135m", "--masks", str(data.parent / "other-masks")
    )
    assert not (data.parent / "out").exists()


def test_masks_are_made_by_all_methods_at_the_first_call_with_their_coverage(data: Path) -> None:
    refused(data, "--tokenizer", "300", "--policy", str(data.parent / "SM95.json"), "--masking", "none")
    told = read_coverage(data.parent / "masks")["maskings"]
    assert list(told) == [
        "unmasked",
        "oracle",
        "SM95",
        "random:SM95",
        "goldfish:2",
        "goldfish:3",
        "goldfish-reference:2",
        "goldfish-reference:3",
        "stm",
    ]
    assert told["oracle"]["coverage"] == 1.0
    assert told["random:SM95"]["masked"] == told["SM95"]["masked"] > 0


def test_masks_of_another_policy_or_tokenizer_than_what_is_named_now_are_refused(data: Path) -> None:
    file, chosen = data.parent / "SM95.json", ("--masking", "none")
    refused(data, *chosen, "--tokenizer", "300", "--policy", str(file))
    other = data.parent / "SM50.json"
    other.write_text(policy(4.0).to_json())
    assert "made without a policy SM50" in refused(data, *chosen, "--policy", str(other))
    assert "of another tokenizer than --tokenizer 280" in refused(data, *chosen, "--tokenizer", "280")
    assert "none: no such masking" in refused(data, *chosen, "--tokenizer", "300", "--policy", str(file))
    file.write_text(policy(4.0).to_json())
    assert "made by another policy SM95 than this file is now" in refused(data, *chosen, "--policy", str(file))
    again = data.parent / "again" / "SM95.json"
    again.parent.mkdir()
    again.write_text(policy().to_json())
    assert "two of that name" in refused(data, *chosen, "--policy", str(file), "--policy", str(again))


def test_masks_of_other_scores_are_refused(data: Path) -> None:
    refused(data, "--tokenizer", "300", "--masking", "none")
    write_scores(data.parent / "others", scored(3).table.to_pylist())
    assert "of other scores than" in refused(data.parent / "others", "--masking", "oracle")
