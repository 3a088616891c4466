"""Two processes train with DeepSpeed over gloo; some are killed."""

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import peft
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tasks.training import checkpoints, job, stopped
from tasks.training.examples import IGNORED, Example
from tasks.training.job import LoraConfig, TrainingJob
from tests.tasks.training.cleaner.runs import curve, examples, finish, kill_after, plain_loop, settings, write_job

STEPS = 10


@dataclass(frozen=True)
class Run:
    """What a run that nothing disturbed was given, and where it was done."""

    start: Path
    folder: Path
    train: list[Example]
    validation: list[Example]
    asked: TrainingJob


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """Ten steps with ZeRO 2 in float32; to be read only."""
    root = tmp_path_factory.mktemp("undisturbed")
    *train, first, second, third = examples(root / "start")
    validation = [first, second, third]
    asked = write_job(root / "run", train, validation, deepspeed=settings(stage=2, steps=STEPS))
    assert finish(root / "run") == [0, 0]
    return Run(root / "start", root / "run", train, validation, asked)


def step_losses(folder: Path) -> list[float]:
    return [line["loss"] for line in curve(folder) if "loss" in line]


def mean_nll(model: torch.nn.Module, some: list[Example]) -> float:
    """The definition, by transformers' own loss."""
    total = 0.0
    for each in some:
        labels = torch.tensor(each.labels[None].astype(np.int64))
        loss = model(input_ids=torch.tensor(each.ids[None].astype(np.int64)), labels=labels).loss
        total += loss.item() * int((each.labels != IGNORED).sum())
    return total / sum(int((each.labels != IGNORED).sum()) for each in some)


def test_losses_and_gradients_are_those_of_a_plain_loop_without_deepspeed_and_packing(undisturbed: Run) -> None:
    expected = plain_loop(undisturbed.start, undisturbed.train, undisturbed.asked)
    steps = [(line["loss"], line["gradient_norm"]) for line in curve(undisturbed.folder) if "loss" in line]
    np.testing.assert_allclose(steps, expected, rtol=1e-4)
    assert expected[-1][0] < expected[0][0] - 0.1  # it learns, so that the comparison means something


def test_the_exported_model_has_the_last_evaluation_loss_and_ends_its_turns(undisturbed: Run) -> None:
    folder = undisturbed.folder / job.MODEL
    model = AutoModelForCausalLM.from_pretrained(folder, use_safetensors=True)
    last = [line["evaluation_loss"] for line in curve(undisturbed.folder) if "evaluation_loss" in line]
    assert len(last) == 4  # after steps 3, 6, 9 and 10
    assert mean_nll(model, undisturbed.validation) == pytest.approx(last[-1], rel=1e-5)
    ends = model.generation_config.eos_token_id
    assert undisturbed.asked.end_of_turn in (ends if isinstance(ends, list) else [ends])
    assert AutoTokenizer.from_pretrained(folder).decode([undisturbed.asked.end_of_turn]) == "<|im_end|>"


def test_killed_and_gone_on_it_has_the_same_losses_and_the_same_weights(undisturbed: Run, tmp_path: Path) -> None:
    run = again(undisturbed, tmp_path, undisturbed.asked)
    kill_after(run, step=6)
    assert checkpoints.steps_done(run / job.CHECKPOINTS) in (4, 8)
    assert not (run / job.MODEL).exists()
    torn = run / job.CHECKPOINTS / "step-00000009"
    torn.mkdir()
    (torn / "mp_rank_00_model_states.pt").write_bytes(b"torn")
    assert finish(run) == [0, 0]
    assert curve(run) == curve(undisturbed.folder)
    names = ("model.safetensors", "config.json")
    same = [(folder / job.MODEL / name).read_bytes() for folder in (run, undisturbed.folder) for name in names]
    assert same[:2] == same[2:]
    assert not torn.exists()


def test_zero_3_killed_and_gone_on_follows_zero_2(undisturbed: Run, tmp_path: Path) -> None:
    config = settings(stage=3, steps=STEPS)
    run = again(undisturbed, tmp_path, undisturbed.asked.model_copy(update={"deepspeed": config}))
    kill_after(run, step=5)
    assert finish(run) == [0, 0]
    ours, theirs = curve(run), curve(undisturbed.folder)
    assert [line["step"] for line in ours] == [line["step"] for line in theirs]
    np.testing.assert_allclose(step_losses(run), step_losses(undisturbed.folder), rtol=1e-4)
    model = AutoModelForCausalLM.from_pretrained(run / job.MODEL)
    assert mean_nll(model, undisturbed.validation) == pytest.approx(ours[-1]["evaluation_loss"], rel=1e-5)


@pytest.mark.filterwarnings("ignore:`is_gradient_checkpointing` is deprecated:FutureWarning")  # peft asks for it
def test_adapters_killed_and_gone_on_are_merged_into_the_model_and_kept_beside_it(
    undisturbed: Run, tmp_path: Path
) -> None:
    config = settings(stage=2, steps=6, bf16=True)
    changes = {"deepspeed": config, "lora": LoraConfig(rank=4, alpha=8, dropout=0.2), "save_every": 2}
    whole, killed = (
        again(undisturbed, tmp_path / name, undisturbed.asked.model_copy(update=changes)) for name in ("a", "b")
    )
    assert finish(whole) == [0, 0]
    kill_after(killed, step=3)
    assert finish(killed) == [0, 0]
    assert curve(killed) == curve(whole)  # dropout included
    merged = AutoModelForCausalLM.from_pretrained(whole / job.MODEL)
    base = AutoModelForCausalLM.from_pretrained(undisturbed.start)
    assert merged.dtype == torch.bfloat16
    changed = {
        name
        for name, each in merged.named_parameters()
        if not torch.equal(each.float(), base.get_parameter(name).bfloat16().float())
    }
    assert changed
    assert all("proj" in name for name in changed)
    beside = peft.PeftModel.from_pretrained(base, str(whole / job.MODEL / "adapter"))
    assert mean_nll(beside, undisturbed.validation) == pytest.approx(
        mean_nll(merged.float(), undisturbed.validation), rel=1e-2
    )


def test_a_loss_that_is_no_number_stops_with_the_ids_and_saves_nothing(undisturbed: Run, tmp_path: Path) -> None:
    train = list(undisturbed.train)
    train[3] = replace(train[3], loss_weight=np.where(train[3].labels == IGNORED, 0, np.inf).astype(np.float32))
    run = again(replace(undisturbed, train=train), tmp_path, undisturbed.asked)
    assert 1 in finish(run)
    why = stopped.told(run)
    assert why is not None
    assert "the loss is inf" in str(why)
    assert train[3].id in str(why)
    assert not (run / job.MODEL).exists()


def again(run: Run, folder: Path, asked: TrainingJob) -> Path:
    """Lay out a run with the same model and examples in ``folder``."""
    values = {name: getattr(asked, name) for name in type(asked).model_fields}
    write_job(folder / "run", run.train, run.validation, **values)
    return folder / "run"
