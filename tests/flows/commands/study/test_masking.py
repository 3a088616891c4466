"""``privasis study code-pii`` and ``code-quirks``: the plan, and what is wrong with an order."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.study.masking import Asked, check_methods, scale_asked
from flows.config import ConfigError
from tasks.masking_study.config import scale_of
from tests.tasks.masking_study.test_grid import NAMES


def _said(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["study", *arguments], env={"COLUMNS": "200"})
    assert result.exit_code == 0, result.output
    return result.stdout


def test_a_dry_run_of_the_papers_scale_prints_its_plan_and_does_nothing(tmp_path: Path) -> None:
    said = _said("code-pii", "--scale", "paper", "--dry-run", "-o", str(tmp_path))
    assert "openai/gpt-oss-20b" in said
    assert "1,125 steps of 20 rows of 2,048 tokens, rate 0.0006" in said
    assert "SM95, filter" in said
    assert "57" in said  # 19 rows without the filter, three seeds
    assert list(tmp_path.iterdir()) == []


def test_seeds_and_rows_can_be_chosen() -> None:
    said = _said("code-quirks", "--seeds", "4, 5,4", "--method", "SM20", "--dry-run")
    assert [line.split() for line in said.splitlines() if "models" in line] == [["models", "2"]]
    scale = scale_asked(scale_of("code-quirks", "mini"), _asked(seeds="4, 5,4"))
    assert scale.seeds == (4, 5)


def test_a_seed_that_is_no_number_and_a_row_that_is_none_are_told() -> None:
    with pytest.raises(ConfigError, match="--seeds one: give whole numbers"):
        scale_asked(scale_of("code-pii", "mini"), _asked(seeds="one"))
    with pytest.raises(ConfigError, match=r"--method opf: no such row; there are unmasked, oracle, SM50"):
        check_methods(scale_of("code-pii", "mini"), _asked(only=("opf",)))
    check_methods(scale_of("code-pii", "mini"), _asked(only=("opf",), opf="somewhere"))
    check_methods(scale_of("code-pii", "mini"), _asked(only=tuple(NAMES)))


def _asked(seeds: str | None = None, only: tuple[str, ...] = (), opf: str | None = None) -> Asked:
    return Asked("mini", Path("studies"), seeds, None, only, opf, 1)
