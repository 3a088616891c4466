from pathlib import Path

import pytest

from flows.commands.checks import check_settings
from flows.config import Remote, load_run
from infra.llm.connect import price_of

RUNS = sorted((Path(__file__).parents[2] / "deploy" / "runs").glob("*.toml"))


@pytest.mark.parametrize("path", RUNS, ids=lambda path: path.name)
def test_a_shipped_run_file_loads_and_its_models_have_prices(path: Path) -> None:
    run = load_run(path, {})
    check_settings(run)
    for entry in run.models:
        if isinstance(entry.engine, Remote):
            price_of(entry.engine)


def test_there_are_runs_for_every_kind_of_model() -> None:
    assert {path.stem for path in RUNS} >= {"demo", "openai", "simulator", "vllm"}
