"""``privasis study chunk-size`` where all is judged already: no Prefect, no Ray."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.chunk_study import link_records, open_sizes, run_at
from flows.cli import app
from flows.commands.study.chunk_size import sizes_of
from flows.config import ConfigError, RunConfig
from infra.shards.verify import verify
from tasks.synthesis.steps import records_store
from tests.flows.commands.evaluate.test_cleaner import RUN
from tests.tasks.evaluation.shards import JUDGE, asked, evaluate, job_of
from tests.tasks.sanitization.records import LETTER
from tests.tasks.sanitization.shards import FIRST, commit_records, made


@pytest.fixture
def run(tmp_path: Path) -> RunConfig:
    (tmp_path / "run.toml").write_text(RUN.format(root=tmp_path), encoding="utf-8")
    commit_records(tmp_path, FIRST)
    return RunConfig(dataset="tiny", root=tmp_path, seed=7, in_flight=2, models=(JUDGE,))


async def test_each_size_has_triplets_of_its_own_of_the_same_records(run: RunConfig) -> None:
    assert open_sizes(run, asked(), [128, 512]) == [128, 512]
    for size in (128, 512):
        at_size = run_at(run, size)
        _, backend = await made(at_size, FIRST)
        assert len(backend.requests) > 0
        await evaluate(at_size, job_of(at_size), FIRST)
        assert verify(records_store(run.root, at_size.dataset)) == []
    assert open_sizes(run, asked(), [128, 512]) == []
    result = CliRunner().invoke(app, ["study", "chunk-size", "-c", str(run.root / "run.toml"), "--sizes", "512,128"])
    assert (result.exit_code, result.stderr) == (0, "")
    rows = [line.split()[0] for line in result.stdout.splitlines() if line.strip()]
    assert rows.index("128") < rows.index("512")
    page = (run.root / "tiny" / "chunk-sizes.html").read_text(encoding="utf-8")
    assert "<svg" in page
    assert "<script" not in page
    arguments = ["study", "chunk-size", "-c", str(run.root / "run.toml"), "--sizes", "512,128", "--json"]
    figures = json.loads(CliRunner().invoke(app, arguments).stdout)
    assert list(figures) == ["128", "512"]
    assert figures["512"]["records"] == 2


def test_records_made_again_are_linked_again(run: RunConfig) -> None:
    at_size = run_at(run, 128)
    link_records(run, at_size)
    before = records_store(run.root, at_size.dataset).read("records")
    commit_records(run.root, FIRST, LETTER.replace("swollen", "sore"))
    assert records_store(run.root, at_size.dataset).read("records") == before  # not changed behind its manifest
    link_records(run, at_size)
    store = records_store(run.root, at_size.dataset)
    assert "sore" in store.read("records")["text"][0].as_py()
    assert verify(store) == []


def test_sizes_are_numbers_that_chunks_can_have() -> None:
    assert sizes_of("512, 128,512") == [128, 512]
    for said in ("", "12", "128,x", "99999"):
        with pytest.raises(ConfigError, match="--sizes"):
            sizes_of(said)
