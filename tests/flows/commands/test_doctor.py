import shutil
from collections import namedtuple
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.commands import findings
from flows.config import RunConfig
from infra.llm.connect import MiniLM

run = CliRunner()
SECRET = "sk-very-secret"


@pytest.mark.usefixtures("prefect_server")
def test_a_model_that_is_missing_is_named_and_the_code_is_3(tmp_path: Path) -> None:
    file = tmp_path / "run.toml"
    file.write_text(f'root = "{tmp_path}"\n[[models]]\nengine = {{ kind = "llama_cpp", model = "gone.gguf" }}\n')
    result = run.invoke(app, ["doctor", "-c", str(file)])
    assert result.exit_code == 3
    assert result.stdout.splitlines()[-1] == "Missing: model gone.gguf."
    states = [line.split()[0] for line in result.stdout.splitlines() if line.startswith((" ok ", " optional "))]
    assert "missing" not in states
    assert len(states) >= 9


@pytest.mark.usefixtures("prefect_server")
def test_what_a_run_needs_is_here_and_no_key_is_shown(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    file = tmp_path / "run.toml"
    file.write_text('[[models]]\nengine = { kind = "simulator" }\n')
    result = run.invoke(app, ["doctor", "-c", str(file)])
    assert result.exit_code == 0
    assert result.stdout.splitlines()[-1] == "Everything a run needs is here."
    assert "key OPENAI_API_KEY" in result.stdout
    assert SECRET not in result.output


def test_a_wrong_run_file_is_a_usage_error(tmp_path: Path) -> None:
    assert run.invoke(app, ["doctor", "-c", str(tmp_path / "gone.toml")]).exit_code == 2


def test_this_environment_is_as_it_was_locked() -> None:
    assert findings.packages().state == "ok"


def test_a_package_of_another_version_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = ["ray==0.1", "no-such-package>=1", 'torch>=2; extra == "surprise"', "prefect>=1"]
    monkeypatch.setattr("importlib.metadata.requires", lambda name: asked)
    found = findings.packages()
    assert found.state == "missing"
    assert found.detail.startswith("ray is ")
    assert found.detail.endswith(", not ==0.1; no-such-package is not installed")


def test_the_embedder_is_tried() -> None:
    found = findings.embedder(MiniLM())
    assert (found.state, "384 dimensions" in found.detail) == ("ok", True)


@pytest.mark.parametrize(("value", "state"), [("", "missing"), (None, "missing"), (SECRET, "ok")])
def test_a_key_is_set_or_not(value: str | None, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SOME_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("SOME_KEY", value)
    found = findings.key("SOME_KEY", "missing")
    assert found.state == state
    assert SECRET not in repr(found)


def test_a_server_without_its_key_is_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    run_config = RunConfig.model_validate({"models": [{"engine": {"kind": "openai", "model": "gpt-4.1"}}]})
    (found,) = findings.server(run_config.models[0].engine)  # type: ignore[arg-type]
    assert (found.name, found.state) == ("key OPENAI_API_KEY", "missing")


def test_room_is_looked_for_at_the_nearest_folder_that_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usage = namedtuple("usage", "total used free")
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, findings.LEAST_DISK_BYTES))
    assert findings.disk("disk", tmp_path / "a" / "b").detail.endswith(f" free at {tmp_path.resolve()}")
    assert findings.disk("disk", tmp_path).state == "ok"
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage(0, 0, findings.LEAST_DISK_BYTES - 1))
    assert findings.disk("disk", tmp_path).state == "missing"


def test_more_workers_than_cores_are_too_many() -> None:
    assert findings.cores(1).state == "ok"
    assert findings.cores(10_000).state == "missing"
