import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from transformers import AutoModelForCausalLM, AutoTokenizer

from tasks.training import job, losses
from tasks.training.job import LoraConfig
from tasks.training.masked import steps
from tasks.training.masked.config import FromScratch, MaskedRun, Pretrained
from tasks.training.masked.learner import TorchLearner
from tasks.training.masked.mask_file import MaskTable
from tasks.training.masked.maskings import ByPolicy, MaskingUnfit, RandomLike, Unmasked, goldfish, oracle
from tasks.training.masked.rows import RowFile
from tasks.training.masked.tokenizer import train_tokenizer
from tasks.training.steps import OutputTaken, steps_behind
from tasks.training.stopped import TrainingStopped
from tests.tasks.training.masked.small import settings
from tests.tasks.training.masked.test_maskings import policy, scored

SMALL = FromScratch(layers=2, width=32, heads=2)


@pytest.fixture(scope="module")
def masks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("masks")
    data = scored(12)
    steps.write_masks(lambda: [data], train_tokenizer(data.texts, 280), [Unmasked(), oracle(), goldfish(2)], folder)
    return folder


def run_of(masks: Path, output: Path, **changed: Any) -> MaskedRun:
    values = {
        "masks": masks,
        "masking": "oracle",
        "output": output,
        "start": SMALL,
        "settings": settings(steps=6),
        "length": 64,
        "save_every": 2,
    }
    return MaskedRun.model_validate(values | changed)


def curve(folder: Path) -> list[dict[str, Any]]:
    return [{k: v for k, v in line.items() if k != "seconds"} for line in losses.read(folder / losses.FILE)]


def weights(folder: Path) -> bytes:
    return (folder / job.MODEL / "model.safetensors").read_bytes()


def test_masks_are_made_once_with_their_coverage(masks: Path) -> None:
    told = steps.read_coverage(masks)
    assert told["maskings"]["oracle"]["coverage"] == 1.0
    assert told["maskings"]["oracle"]["collateral"] == 0.0
    assert 0 < told["maskings"]["goldfish:2"]["collateral"] < 1
    before = (masks / steps.MASKS).read_bytes()
    data = scored(12)
    again = steps.write_masks(
        lambda: [data], train_tokenizer(data.texts, 280), [Unmasked(), oracle(), goldfish(2)], masks
    )
    assert again == told
    assert (masks / steps.MASKS).read_bytes() == before


def test_masks_of_pieces_are_those_of_the_whole_matched_over_all_of_it(tmp_path: Path) -> None:
    data = scored(12)
    tokenizer = train_tokenizer(data.texts, 280)
    maskings = [
        Unmasked(),
        oracle(),
        ByPolicy("SM", policy()),
        RandomLike("random:SM", "SM"),
        RandomLike("again", "random:SM", seed=2),
        goldfish(2),
    ]
    names = [each.name for each in maskings]
    whole = steps.write_masks(lambda: [data], tokenizer, maskings, tmp_path / "whole")
    pieces = [data.take(range(5)), data.take(range(5, 6)), data.take(range(6, 12))]
    parts = steps.write_masks(lambda: iter(pieces), tokenizer, maskings, tmp_path / "parts")
    assert parts["maskings"] == whole["maskings"]
    assert parts["maskings"]["random:SM"]["masked"] == parts["maskings"]["SM"]["masked"] > 0
    one, several = (MaskTable.read(tmp_path / name / steps.MASKS, names) for name in ("whole", "parts"))
    assert several.ids == one.ids
    assert several.row_offsets.tolist() == one.row_offsets.tolist()
    assert several.tokens.tolist() == one.tokens.tolist()
    for name in names:
        assert several.masks[name].tolist() == one.masks[name].tolist(), name
    assert not list((tmp_path / "parts").glob(".*"))


def test_all_seeds_and_actions_read_the_same_masks(masks: Path, tmp_path: Path) -> None:
    jobs = [
        steps.prepare_job(run_of(masks, tmp_path / f"{action}-{seed}", action=action, seed=seed))
        for action, seed in (("loss", 0), ("loss", 1), ("clip", 0))
    ]
    assert len({each.masks_sha256 for each in jobs}) == 1
    assert jobs[0].train_sha256 == jobs[1].train_sha256 != jobs[2].train_sha256
    selected = [RowFile(tmp_path / name / job.TRAIN)[0].selected.tolist() for name in ("loss-0", "loss-1", "clip-0")]
    assert selected[0] == selected[1] == selected[2]
    assert jobs[0].model != jobs[1].model  # from scratch, a seed has weights of its own


@pytest.mark.parametrize("action", ["loss", "attention", "both", "clip", "scale"])
def test_a_model_is_trained_and_transformers_loads_it(masks: Path, tmp_path: Path, action: str) -> None:
    trained = steps.train_here(run_of(masks, tmp_path / "run", action=action))
    model = AutoModelForCausalLM.from_pretrained(trained.model)
    tokenizer = AutoTokenizer.from_pretrained(trained.model)
    ids = tokenizer("key = ", return_tensors="pt")["input_ids"]
    assert torch.isfinite(model(ids).logits).all()
    assert tokenizer.bos_token_id == model.config.bos_token_id
    told = json.loads((trained.model / "training.json").read_text())
    assert told["data"]["coverage"]["coverage"] == 1.0
    assert told["job"]["action"] == action
    assert told["metrics"]["steps"] == 6
    assert ("clip" in curve(tmp_path / "run")[0]) is (action == "clip")


def test_what_is_masked_is_not_learnt_and_what_is_not_is(masks: Path, tmp_path: Path) -> None:
    def surprise(masking: str) -> float:
        """Mean NLL of the tokens of the labelled value, after the text before it."""
        run = run_of(masks, tmp_path / masking, masking=masking, settings=settings(steps=60), save_every=100)
        trained = steps.train_here(run)
        tokenizer = AutoTokenizer.from_pretrained(trained.model)
        model = AutoModelForCausalLM.from_pretrained(trained.model)
        before = [tokenizer.bos_token_id, *tokenizer("3 key = '")["input_ids"]]
        value = tokenizer("Zq7Xw2Kd")["input_ids"]
        with torch.no_grad():
            logprobs = model(torch.tensor([before + value])).logits[0].log_softmax(-1)
        return -float(np.mean([logprobs[len(before) + i - 1, id_] for i, id_ in enumerate(value)]))

    assert surprise("unmasked") < 1.0
    assert surprise("oracle") > 4.0


def test_the_same_run_again_is_read_and_another_one_is_refused(masks: Path, tmp_path: Path) -> None:
    first = steps.train_here(run_of(masks, tmp_path / "run"))
    written = (first.model / "model.safetensors").stat().st_mtime_ns
    second = steps.train_here(run_of(masks, tmp_path / "run", save_every=5))
    assert (second.model / "model.safetensors").stat().st_mtime_ns == written
    with pytest.raises(OutputTaken, match="it differs in model, seed"):
        steps.train_here(run_of(masks, tmp_path / "run", seed=3))


@pytest.mark.parametrize("action", ["loss", "clip"])
def test_killed_and_resumed_it_has_the_same_losses_and_weights(
    masks: Path, tmp_path: Path, action: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole, killed = (run_of(masks, tmp_path / name, action=action) for name in ("whole", "killed"))
    steps.train_here(whole)
    finish, done = TorchLearner.finish, []

    def dying(self: TorchLearner) -> float:
        done.append(finish(self))
        if len(done) == 5:  # in the fifth step, after the checkpoint of the fourth
            raise KeyboardInterrupt
        return done[-1]

    monkeypatch.setattr(TorchLearner, "finish", dying)
    with pytest.raises(KeyboardInterrupt):
        steps.train_here(killed)
    monkeypatch.undo()
    assert steps_behind(killed.output) == 4
    assert len(curve(killed.output)) == 4
    steps.train_here(killed)
    assert curve(killed.output) == curve(whole.output)
    assert weights(killed.output) == weights(whole.output)


def test_a_loss_that_is_no_number_stops_and_names_the_documents(masks: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    first = steps.train_here(run_of(masks, tmp_path / "first", settings=settings(steps=1)))
    model = AutoModelForCausalLM.from_pretrained(first.model)
    with torch.no_grad():
        model.model.norm.weight.fill_(float("nan"))
    model.save_pretrained(broken)
    AutoTokenizer.from_pretrained(first.model).save_pretrained(broken)
    run = run_of(masks, tmp_path / "run", start=Pretrained(name=str(broken)))
    with pytest.raises(TrainingStopped, match=r"step 1: the loss is nan. Examples of the batch: d\d+"):
        steps.train_here(run)
    assert not (run.output / job.CHECKPOINTS).exists()


def test_adapters_are_trained_and_merged(masks: Path, tmp_path: Path) -> None:
    first = steps.train_here(run_of(masks, tmp_path / "first"))
    run = run_of(
        masks,
        tmp_path / "run",
        start=Pretrained(name=str(first.model)),
        lora=LoraConfig(rank=2, alpha=4),
        action="clip",
    )
    trained = steps.train_here(run)
    assert (trained.model / "adapter" / "adapter_model.safetensors").exists()
    before, after = (AutoModelForCausalLM.from_pretrained(each.model).state_dict() for each in (first, trained))
    name = "model.layers.0.self_attn.q_proj.weight"
    assert not torch.equal(before[name], after[name])
    assert torch.equal(before["model.embed_tokens.weight"], after["model.embed_tokens.weight"])


def test_masks_of_another_tokenizer_or_changed_ones_are_refused(masks: Path, tmp_path: Path) -> None:
    data = scored(3)
    steps.write_masks(lambda: [data], train_tokenizer(data.texts, 270), [Unmasked()], tmp_path / "other")
    first = steps.train_here(run_of(masks, tmp_path / "first", settings=settings(steps=1)))
    run = run_of(tmp_path / "other", tmp_path / "run", masking="unmasked", start=Pretrained(name=str(first.model)))
    with pytest.raises(MaskingUnfit, match="masks of another tokenizer"):
        steps.train_here(run)
    (tmp_path / "other" / steps.MASKS).write_bytes(b"PAR1")
    with pytest.raises(MaskingUnfit, match="not the file that coverage"):
        steps.train_here(run)
    with pytest.raises(MaskingUnfit, match="oracle, filter: no document is left"):
        steps.train_here(run_of(masks, tmp_path / "none", action="filter"))
    with pytest.raises(MaskingUnfit, match="no masking SM95 in the file"):
        steps.train_here(run_of(masks, tmp_path / "none", masking="SM95"))
