import re
import tomllib
from pathlib import Path
from typing import get_args

from pydantic import BaseModel
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.template import run_file
from flows.config import MixedEngine, RunConfig, Simulated, load_run

run = CliRunner()


def test_the_file_loads_to_the_defaults(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    assert run.invoke(app, ["init", str(path)]).exit_code == 0
    assert load_run(path, {}) == RunConfig()


def models_in(annotation: object) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        fields = [models_in(field.annotation) for field in annotation.model_fields.values()]
        return [annotation, *(model for found in fields for model in found)]
    return [model for each in get_args(annotation) for model in models_in(each)]


def test_every_setting_of_every_kind_is_in_it() -> None:
    lines = run_file().splitlines()
    names = {name for model in models_in(RunConfig) for name in model.model_fields}
    assert {"fault_rate", "base_url", "endpoint", "pool_size", "sexes"} < names
    tables = {"endpoint", "engine", "models", "embedder", "names", "draws", "synthesis", "refinement", "temperatures"}
    tables |= {"sanitization", "evaluation", "splits"}
    for name in names - tables - {"prompt", "cached", "completion"}:  # a price is one value
        assert any(re.match(rf"(# )*{name} =", line) for line in lines), name
    for name in tables:
        assert any(re.match(rf"(# )?\[+([a-z_]+\.)*{name}\]+$", line) for line in lines), name


def test_every_setting_says_what_it_means() -> None:
    text = run_file()
    assert "# another seed is another population; at least 0" in text
    assert (
        "# how the domains of life events are drawn: by the shares of Table 1, or 'uniform'; one of \"paper\"," in text
    )


def test_another_kind_is_chosen_by_uncommenting_it() -> None:
    text = run_file()
    before, _, rest = text.partition('[models.engine]\nkind = "llama_cpp"')
    _, _, kinds = rest.partition("# The simulator")
    simulator, _, after = kinds.partition("\n\n")
    uncommented = "\n".join(line.removeprefix("# ") for line in simulator.splitlines()[1:])
    parsed = tomllib.loads(f"{before}{uncommented}\n{after[after.index('[embedder]') :]}")
    assert RunConfig.model_validate(parsed).models == (
        MixedEngine(engine=Simulated(), repeat_penalty=1.1, forbidden_characters="[]<>{}"),
    )


def test_a_file_that_is_there_stays_unless_forced(tmp_path: Path) -> None:
    path = tmp_path / "run.toml"
    path.write_text("records = 7\n", encoding="utf-8")
    refused = run.invoke(app, ["init", str(path)])
    assert refused.exit_code == 2
    assert f"{path} is there" in refused.stderr
    assert load_run(path, {}).records == 7
    assert run.invoke(app, ["init", str(path), "--force"]).exit_code == 0
    assert load_run(path, {}) == RunConfig()
