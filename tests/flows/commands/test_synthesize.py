import asyncio
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.made import print_made
from flows.config import load_run
from flows.engines import planned_job
from flows.synthesize import SynthesisReport, plan_run
from infra.llm.types import Usage
from infra.shards import local_files
from infra.shards.ranges import ShardRange
from tasks.shards.steps import ShardReceipt
from tasks.synthesis.steps import records_store
from tests.flows.conftest import MadeSet, make

run = CliRunner()


@pytest.fixture
def copied(made_set: MadeSet, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made_set.folder, tmp_path / "tiny"))


def synthesize(made_set: MadeSet, copied: Path, *flags: str) -> tuple[int, str, str]:
    """Call the command on a copy of the set; where all is there, it needs neither Prefect nor Ray."""
    arguments = ["synthesize", "-c", str(made_set.run_file), "--root", str(copied.parent), *flags]
    result = run.invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


def test_a_second_run_makes_nothing_and_starts_nothing(made_set: MadeSet, copied: Path) -> None:
    code, out, err = synthesize(made_set, copied)
    assert (code, err) == (0, "")
    assert out.startswith(f"Nothing to do: 2 of 2 shards of {copied} finished with these settings.")
    assert f"privasis report {copied} " in out
    assert "--reprocess" not in out


def test_a_run_with_other_settings_does_not_pass_for_done(made_set: MadeSet, copied: Path) -> None:
    code, out, _ = synthesize(made_set, copied, "--words", "100")
    assert code == 0
    assert out.startswith("Nothing to do: 0 of 2 shards")
    assert "2 shards finished with other settings or prompts" in out
    assert "`--reprocess stale` makes them again" in out


def test_shards_that_another_process_has_are_not_done(made_set: MadeSet, copied: Path) -> None:
    store = records_store(copied.parent, "tiny")
    with store.acquire(ShardRange(12, 18)):
        code, out, err = synthesize(made_set, copied, "-n", "18")
    assert (code, out) == (3, "")
    assert err == "privasis: another process is making 1 shard: wait for it\n"


def test_what_a_killed_run_has_left_is_swept_away(made_set: MadeSet, copied: Path) -> None:
    local_files.prepare(copied / "records" / "part-00000000-00000006.parquet", memoryview(b"half"))
    assert run.invoke(app, ["shards", "verify", str(copied)]).exit_code == 4
    assert synthesize(made_set, copied)[0] == 0
    assert run.invoke(app, ["shards", "verify", str(copied)]).exit_code == 0


def test_what_was_made_is_told_with_the_reasons_of_what_was_not(
    made_set: MadeSet, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "nobody is asked")
    config = load_run(
        made_set.run_file,
        {"root": str(tmp_path), "synthesis.draws": {"min_age": 17, "max_age": 17}, "records": 6},  # nobody is of age
    )
    before = plan_run(config, "missing_and_failed")
    job = planned_job(config)
    receipts = asyncio.run(make(job, ShardRange(0, 6)))
    print_made(config, SynthesisReport("tiny", 0, tuple(receipts)), job.store(), before)
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines[:4] == ["records 0", "filtered 6 under_age 6", "quarantined 0", "calls 0"]
    assert f"1 shard in {tmp_path / 'tiny' / 'records'}" in lines


def test_a_model_of_the_mix_that_made_nothing_is_named(
    made_set: MadeSet, copied: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = load_run(made_set.run_file, {"root": str(copied.parent)})
    lost = config.models[0].engine.model_copy(update={"model": "lost"})
    mixed = config.model_copy(update={"models": (*config.models, config.models[0].model_copy(update={"engine": lost}))})
    store, before = planned_job(config).store(), plan_run(config, "missing_and_failed")
    rows = {shard: store.read_shard("records", shard, ["model"]).num_rows for shard in store.manifest.shards()}
    receipts = [ShardReceipt(shard.name, rows[shard], 0, 0, 0, 0, Usage(), 0.0, 0, Usage(), 0.0) for shard in rows]
    print_made(mixed, SynthesisReport("tiny", 0, tuple(receipts)), store, before)
    out = capsys.readouterr().out
    made = sum(rows.values())
    assert re.search(rf"^records +{made} +{config.models[0].name} {made}, lost 0$", out, re.MULTILINE)
    assert f"No record was made by lost: `privasis status {copied}` lists tries that failed." in out


@pytest.mark.parametrize(
    ("flags", "code", "said"),
    [
        (["--language", "Klingon"], 2, "language 'Klingon': not one of"),
        (["--records", "0"], 2, "greater than or equal"),
        (["--workers", "-1"], 2, "greater than or equal"),
        (["--words", "5"], 2, "synthesis.words: Input should be greater than or equal to 80"),
        (["--reprocess", "some"], 2, "--reprocess"),
        (["--dataset", "../elsewhere"], 2, "dataset: "),
        (["--model", "llama_cpp:gone.gguf", "--set", "embedder.kind=minilm"], 3, "gone.gguf"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_starts(
    flags: list[str], code: int, said: str, tmp_path: Path
) -> None:
    result = run.invoke(app, ["synthesize", "--root", str(tmp_path / "data"), *flags])
    assert (result.exit_code, result.stdout) == (code, "")
    assert said in " ".join(result.stderr.replace("│", " ").split())
    assert not (tmp_path / "data").exists()


RUN = """
dataset = "twenty"
root = "data"
records = 20
shard_size = 10
shards_each = 2
in_flight = 10
[synthesis]
words = 200
[[models]]
engine = { kind = "simulator" }
[embedder]
kind = "simulator"
"""


@pytest.mark.ray
def test_from_nothing_to_a_verified_report_through_prefect_and_ray(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "run.toml").write_text(RUN, encoding="utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "RAY_"))}
    made = subprocess.run(
        [sys.executable, "-c", "from flows.cli import main; main()", "synthesize", "-c", "run.toml"],
        cwd=tmp_path,
        env=clean | {"PRIVASIS_CACHE": str(tmp_path / "cache"), "PREFECT_HOME": str(tmp_path / "prefect")},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert made.returncode == 0, made.stderr
    said = made.stderr.splitlines()  # nothing of Prefect's and Ray's own
    assert said[0] == "20 records to make in 2 shards; starting Prefect, Ray and the models"
    assert re.fullmatch(r"watch it at http://127\.0\.0\.1:\d+", said[1])
    assert [line for line in said[2:] if "flows.progress" not in line] == []  # a busy machine is told how far it is
    lines = [" ".join(line.split()) for line in made.stdout.splitlines()]
    assert lines[:4] == ["records 20", "filtered 0", "quarantined 0", "calls 300"]

    monkeypatch.chdir(tmp_path)
    again = run.invoke(app, ["synthesize", "-c", "run.toml"])
    assert again.stdout.startswith("Nothing to do: 2 of 2 shards of data/twenty finished")
    report = run.invoke(app, ["report", "data/twenty"])
    assert "20 of 20 rows" in report.stdout
    assert (tmp_path / "data" / "twenty" / "report.html").stat().st_size > 10_000
    verified = run.invoke(app, ["shards", "verify", "data/twenty"])
    assert verified.stdout == "data/twenty: 2 shards of records, every file as it was committed\n"
