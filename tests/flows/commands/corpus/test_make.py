import json
from pathlib import Path

from typer.testing import CliRunner

from flows.cli import app

run = CliRunner()
TINY = ["--calibration-users", "1", "--calibration-programs", "1", "--development-tasks", "2", "--display-tasks", "1"]


def test_a_corpus_is_made_and_what_is_in_it_is_told(tmp_path: Path) -> None:
    made = run.invoke(
        app,
        ["corpus", "code-quirks", "-o", str(tmp_path), "--programs", "1", "--task-limit", "9", *TINY, "--workers", "2"],
        env={"COLUMNS": "200"},
    )
    assert made.exit_code == 0, made.output
    assert "chats/train.parquet" in made.output
    assert "1 semicolons" in made.output
    manifest = json.loads((tmp_path / "manifest.json").read_bytes())
    assert manifest["config"] == {
        "seed": 0, "programs": 1, "tasks": 9, "calibration_users": 1, "calibration_programs": 1,
        "development_tasks": 2, "display_tasks": 1,
    }  # fmt: skip


def test_a_size_that_cannot_be_is_a_message(tmp_path: Path) -> None:
    asked = run.invoke(app, ["corpus", "code-quirks", "-o", str(tmp_path), "--programs", "700"])
    assert (asked.exit_code, "700 programs a user need as many tasks, not 600" in asked.stderr) == (2, True)
    asked = run.invoke(app, ["corpus", "code-pii", "-o", str(tmp_path), "--development-tasks", "5000"])
    assert (asked.exit_code, "5000 tasks are asked for development, there are 188" in asked.stderr) == (2, True)


def test_a_folder_without_tasks_is_a_message(tmp_path: Path) -> None:
    asked = run.invoke(app, ["corpus", "code-pii", "-o", str(tmp_path / "out"), "--tasks", str(tmp_path)])
    assert (asked.exit_code, "no tasks: each is a folder with" in asked.stderr) == (2, True)
