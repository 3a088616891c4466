"""``privasis sanitize`` where neither Prefect nor Ray is needed: nothing to do, no records, what it tells."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.sanitize import print_made, write_page
from flows.config import RunConfig
from flows.sanitize import SanitizationReport, planned_sanitization
from tests.tasks.sanitization.shards import FIRST, SECOND, commit_records, made

runner = CliRunner()


@pytest.fixture
def run(tmp_path: Path) -> RunConfig:
    for shard in (FIRST, SECOND):
        commit_records(tmp_path, shard)
    return RunConfig(dataset="tiny", root=tmp_path, seed=7)


def sanitized(root: Path, *flags: str) -> tuple[int, str, str]:
    result = runner.invoke(app, ["sanitize", "--root", str(root), "--dataset", "tiny", "--seed", "7", *flags])
    return result.exit_code, result.stdout, result.stderr


async def test_what_is_sanitized_is_not_sanitized_again(run: RunConfig) -> None:
    for shard in (FIRST, SECOND):
        await made(run, shard)
    code, out, err = sanitized(run.root)
    assert (code, err) == (0, "")
    assert out == f"Nothing to do: 2 of 2 record shards of {run.root / 'tiny'} sanitized with these settings.\n"


async def test_changed_records_are_told_and_left_until_asked_for(run: RunConfig) -> None:
    for shard in (FIRST, SECOND):
        await made(run, shard)
    commit_records(run.root, SECOND, "Ana Lima lives in Porto.")
    code, out, _ = sanitized(run.root)
    assert code == 0
    assert out.startswith("Nothing to do: 1 of 2 record shards")
    assert "`--reprocess stale` makes them again" in out


async def test_a_shard_that_another_process_has_is_not_done(run: RunConfig) -> None:
    await made(run, FIRST)
    with planned_sanitization(run).store().acquire(SECOND):
        assert sanitized(run.root) == (3, "", "privasis: another process is making 1 shard: wait for it\n")


def test_a_data_set_without_finished_records_is_told(tmp_path: Path) -> None:
    code, out, err = sanitized(tmp_path)
    assert (code, out) == (2, "")
    assert err.startswith("privasis: ")
    assert "no finished records to sanitize" in err


async def test_what_was_made_is_told(run: RunConfig, capsys: pytest.CaptureFixture[str]) -> None:
    receipt, backend = await made(run, FIRST)
    print_made(SanitizationReport("tiny", 1, (receipt,)), planned_sanitization(run).store())
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "triplets 2 2 without a value of a target in the clean text"
    assert f"calls {len(backend.requests)}" in lines
    assert lines[-1].endswith("1 were there")


async def test_a_page_of_a_few_is_written_beside_them(run: RunConfig) -> None:
    await made(run, FIRST)
    page = write_page(planned_sanitization(run).store(), "tiny")
    assert page == run.root / "tiny" / "triplets.html"
    html = page.read_text(encoding="utf-8")
    assert html.count("<details") == 2
    assert "r-00000007-00000001" in html
