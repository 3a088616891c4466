from pathlib import Path

import pytest

from flows.config import RunConfig
from tasks.evaluation.splitting.assign import SplitConfig
from tasks.evaluation.splitting.steps import SplitJob, make_splits
from tasks.evaluation.verdict import full_successes
from tasks.sanitization.steps import triplets_store
from tasks.training import job
from tasks.training.cleaner.config import CleanerRun
from tasks.training.cleaner.prepare import DataUnfit
from tasks.training.cleaner.reading.steps import read_chats
from tasks.training.cleaner.steps import prepare_job
from tasks.training.ds_config import read_config
from tasks.training.examples import ExampleFile
from tasks.training.steps import OutputTaken, output_locked
from tests.tasks.sanitization.script import honest
from tests.tasks.sanitization.shards import FIRST, SECOND, commit_records, made
from tests.tasks.training.chatml import save_tiny
from tests.tasks.training.cleaner.runs import READY
from tests.tasks.training.cleaner.test_chats import write_export


def run_of(folder: Path, **changed: object) -> CleanerRun:
    if not (folder / "model").exists():
        save_tiny(folder / "model")
        write_export(folder / "export")
    values: dict[str, object] = {
        "data": folder / "export",
        "output": folder / "out",
        "model": str(folder / "model"),
        "deepspeed": read_config(READY).with_steps(3),
        "length": 300,
    }
    return CleanerRun.model_validate(values | changed)


def test_the_job_says_all_that_decides_and_is_the_same_a_second_time(tmp_path: Path) -> None:
    asked = prepare_job(run_of(tmp_path))
    assert asked.model.startswith(f"{tmp_path.name}@sha256:")  # what holds the folder `model` tells more than that
    assert ExampleFile(tmp_path / "out" / job.TRAIN)[2].id == "c"
    assert len(ExampleFile(tmp_path / "out" / job.VALIDATION)) == 1
    assert job.read_job(tmp_path / "out") == asked
    assert prepare_job(run_of(tmp_path)) == asked


def test_how_often_to_save_may_change_and_nothing_else(tmp_path: Path) -> None:
    prepare_job(run_of(tmp_path))
    assert prepare_job(run_of(tmp_path, save_every=1, evaluate_every=1)).save_every == 1
    with pytest.raises(OutputTaken, match="it differs in seed"):
        prepare_job(run_of(tmp_path, seed=5))
    (tmp_path / "export/data/train-00001.parquet").unlink()
    with pytest.raises(OutputTaken, match="it differs in train_sha256"):
        prepare_job(run_of(tmp_path))


def test_a_length_beyond_the_model_or_below_every_chat_is_told(tmp_path: Path) -> None:
    with pytest.raises(DataUnfit, match=r"--length 513: .* takes 512 tokens at most"):
        prepare_job(run_of(tmp_path, length=513))
    with pytest.raises(DataUnfit, match=r"none of 3 chats .*: 3 have more tokens than --length allows"):
        prepare_job(run_of(tmp_path, length=16))


def test_another_run_is_refused_before_its_model_is_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its start is what a run of adapters is merged into at the end."""
    monkeypatch.setattr("tasks.training.cleaner.steps._TINY_TOKENIZER", str(run_of(tmp_path).model))
    tiny = run_of(tmp_path, model="tiny")
    prepare_job(tiny)
    weights = tmp_path / "out/start/model.safetensors"
    before = weights.read_bytes()
    with pytest.raises(OutputTaken, match="it differs in seed"):
        prepare_job(tiny.model_copy(update={"seed": 5}))
    assert weights.read_bytes() == before
    prepare_job(tiny)


def test_a_job_of_another_version_is_told(tmp_path: Path) -> None:
    prepare_job(run_of(tmp_path))
    file = tmp_path / "out" / job.FILE
    file.write_text(file.read_text().replace('"seed"', '"sead"'))
    with pytest.raises(OutputTaken, match=r"job.json: damaged, or of another version \(sead\): choose another -o"):
        prepare_job(run_of(tmp_path))


def test_two_runs_do_not_share_a_folder(tmp_path: Path) -> None:
    with (
        output_locked(tmp_path / "out"),
        pytest.raises(OutputTaken, match="another process is training"),
        output_locked(tmp_path / "out"),
    ):
        pytest.fail("both are in")
    with output_locked(tmp_path / "out"):
        pass


async def test_a_data_set_is_read_by_its_splits(tmp_path: Path) -> None:
    run = RunConfig(dataset="tiny", root=tmp_path, seed=7)
    commit_records(tmp_path, FIRST)
    await made(run, FIRST, honest)
    with pytest.raises(DataUnfit, match="`privasis split` first"):
        read_chats(tmp_path / "tiny")
    split = SplitJob(root=tmp_path, dataset="tiny", config=SplitConfig(test=0.001, validation=0))
    make_splits(split, None, FIRST, full_successes)
    rows = triplets_store(tmp_path, "tiny").read("triplets").to_pylist()
    found = read_chats(tmp_path / "tiny")
    assert [each.id for each in found.train] == [row["record_id"] for row in rows]
    assert [each.messages[-1]["content"] for each in found.train] == [row["sanitized"] for row in rows]
    assert all(row["instruction"] in each.messages[1]["content"] for row, each in zip(rows, found.train, strict=True))
    assert list(found.sources) == [f"triplets/{FIRST.name}"]
    commit_records(tmp_path, SECOND)
    await made(run, SECOND, honest)
    with pytest.raises(DataUnfit, match=f"{SECOND.name}: its triplets were made after the last split"):
        read_chats(tmp_path / "tiny")
