"""The worked examples of docs/extending.md and docs/shards.md do what the pages say."""

from pathlib import Path

import pytest

from tests.docs.pages import ROOT, python_blocks


def run(blocks: list[str], page: str) -> None:
    names: dict[str, object] = {"__name__": "worked_example"}
    for number, block in enumerate(blocks, start=1):
        exec(compile(block, f"{page}, block {number}", "exec"), names)


def test_the_examples_of_extending_run_from_top_to_bottom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = python_blocks((ROOT / "docs" / "extending.md").read_text(encoding="utf-8"))
    assert len(blocks) == 6
    run(blocks, "docs/extending.md")


def test_the_stage_of_the_shards_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    blocks = python_blocks((ROOT / "docs" / "shards.md").read_text(encoding="utf-8"))
    run(blocks[-1:], "docs/shards.md")
