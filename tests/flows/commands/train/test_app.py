from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app

runner = CliRunner()


def test_the_help_has_examples() -> None:
    shown = runner.invoke(app, ["train", "cleaner", "--help"])
    assert shown.exit_code == 0
    assert "privasis train cleaner --data" in shown.output


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--deepspeed", "nowhere.json"], "no such file"),
        (["--too-long", "cut"], "'cut' is not one of"),
        (["--steps", "0"], "should be greater than or equal to 1"),
    ],
)
def test_what_is_wrong_is_told_before_anything_starts(tmp_path: Path, arguments: list[str], complaint: str) -> None:
    asked = ["train", "cleaner", "--data", str(tmp_path), "-o", str(tmp_path / "out"), *arguments]
    refused = runner.invoke(app, asked)
    assert refused.exit_code == 2
    assert complaint in " ".join(refused.output.replace("│", " ").split())
    assert not (tmp_path / "out").exists()
