"""A tiny model through the flow: plain torch in a process that torch's launcher starts."""

from pathlib import Path

import pytest
from transformers import AutoModelForCausalLM

from flows.commands.train.masked import print_coverage, print_trained
from flows.train_masked import train_masked
from tasks.training.masked.maskings import Unmasked, oracle
from tasks.training.masked.steps import read_coverage, write_masks
from tasks.training.masked.tokenizer import train_tokenizer
from tests.tasks.training.masked.test_maskings import scored
from tests.tasks.training.masked.test_steps import run_of


@pytest.mark.usefixtures("prefect_server")
def test_the_flow_tells_the_coverage_trains_and_a_second_time_does_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = scored(6)
    write_masks(lambda: [data], train_tokenizer(data.texts, 280), [Unmasked(), oracle()], tmp_path / "masks")
    run = run_of(tmp_path / "masks", tmp_path / "out", action="clip")
    print_coverage(read_coverage(run.masks), "oracle")
    report = train_masked(run)
    assert report.steps_before == 0
    assert AutoModelForCausalLM.from_pretrained(report.trained.model).config.model_type == "qwen3"
    again = train_masked(run)
    assert again.steps_before == 6
    assert again.trained.record["metrics"] == report.trained.record["metrics"]
    print_trained(run, again)
    told = capsys.readouterr()
    assert "oracle" in told.err
    assert "100.0%" in told.err
    assert "6 were done" in told.out
