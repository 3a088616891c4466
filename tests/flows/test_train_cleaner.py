"""A tiny model through the flow, trained by two processes that torch's launcher starts."""

import json
from pathlib import Path

import pytest
import torch
from prefect.client.orchestration import get_client
from transformers import AutoModelForCausalLM

from flows.commands.train.cleaner import print_trained
from flows.train_cleaner import train_cleaner
from tasks.training import job, losses, stopped
from tasks.training.steps import LOG, RECORD, OutputTaken
from tasks.training.stopped import TrainingStopped
from tests.tasks.training.cleaner.test_steps import run_of


@pytest.mark.usefixtures("prefect_server")
def test_the_flow_trains_says_what_of_and_a_second_time_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = run_of(tmp_path, save_every=2)
    report = train_cleaner(run)
    written = json.loads((run.output / job.MODEL / RECORD).read_text())
    assert written == report.record
    assert report.steps_before == 0
    assert (written["metrics"]["steps"], written["data"]["train"]) == (3, {"examples": 3, "left_out": {}})
    assert written["data"]["sources"].keys() == {
        f"data/{name}-0000{i}.parquet" for name, i in (("train", 0), ("train", 1), ("validation", 0))
    }
    assert written["job"]["deepspeed"]["zero_optimization"]["stage"] == 2
    assert written["hardware"]["processes"] == 2
    assert written["code"]["version"]
    assert written["metrics"]["evaluation_loss"] > 0
    assert AutoModelForCausalLM.from_pretrained(run.output / job.MODEL).config.model_type == "qwen3"
    with get_client(sync_client=True) as client:
        keys = {artifact.key for artifact in client.read_artifacts()}
    assert {"training-progress", "training-losses"} <= keys

    log = (run.output / LOG).stat().st_mtime_ns
    again = train_cleaner(run)
    assert again.steps_before == 3
    assert again.record["metrics"] == report.record["metrics"]
    assert (run.output / LOG).stat().st_mtime_ns == log
    capsys.readouterr()
    print_trained(run, again)
    printed = capsys.readouterr().out
    assert "3 were done" in printed
    assert str(run.output / "model") in printed.replace("\n", "")
    with pytest.raises(OutputTaken):
        train_cleaner(run_of(tmp_path, seed=1))
    assert stopped.told(run.output) is None
    assert len(losses.read(run.output / losses.FILE)) == 4


@pytest.mark.usefixtures("prefect_server")
def test_a_loss_that_is_no_number_ends_the_flow_with_the_ids(tmp_path: Path) -> None:
    run = run_of(tmp_path)
    broken = AutoModelForCausalLM.from_pretrained(run.model)
    with torch.no_grad():
        broken.model.norm.weight[0] = float("nan")
    broken.save_pretrained(run.model)
    with pytest.raises(TrainingStopped, match=r"step 1: the loss is nan\. Examples of the batch: [abc], [abc]\. Look"):
        train_cleaner(run)
    assert losses.read(run.output / losses.FILE) == []
