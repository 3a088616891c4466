"""Tiny rows and models, and the definition that training must equal: one document after the other, in float64."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from tasks.training.ds_config import DeepSpeedConfig
from tasks.training.examples import IGNORED
from tasks.training.masked.attention import PACKED_ROWS
from tasks.training.masked.rows import Row
from tests.tasks.surprise.scoring.tiny import VOCABULARY, qwen3

CPU = torch.device("cpu")


def settings(steps: int = 4, micro: int = 2, accumulation: int = 1, **changed: Any) -> DeepSpeedConfig:
    values: dict[str, Any] = {
        "train_batch_size": micro * accumulation,
        "train_micro_batch_size_per_gpu": micro,
        "gradient_accumulation_steps": accumulation,
        "optimizer": {"type": "AdamW", "params": {"lr": 0.01, "weight_decay": 0.01, "torch_adam": True}},
        "scheduler": {"type": "WarmupDecayLR", "params": {"total_num_steps": steps, "warmup_num_steps": 1}},
    }
    return DeepSpeedConfig.model_validate(values | changed)


def row(seed: int, pieces: Sequence[int], *, blocked: bool = False) -> Row:
    """Random tokens, most of them supervised, a third of these selected."""
    generator = np.random.default_rng(seed)
    size = sum(pieces)
    ids = generator.integers(3, VOCABULARY, size, dtype=np.int32)
    learnt = generator.random(size) < 0.8
    learnt[np.cumsum([0, *pieces[:-1]])] = False
    selected = learnt & (generator.random(size) < 0.35)
    return Row(
        tuple(f"d{seed}-{place}" for place in range(len(pieces))),
        tuple(pieces),
        ids,
        np.where(learnt, ids, IGNORED).astype(np.int32),
        learnt.astype(np.float32),
        selected if blocked else np.zeros(size, dtype=np.bool_),
        selected,
    )


def packed(model: PreTrainedModel) -> PreTrainedModel:
    model.set_attn_implementation(PACKED_ROWS)
    return model.train()


def losses_one_by_one(model: PreTrainedModel, rows: Sequence[Row]) -> tuple[torch.Tensor, torch.Tensor]:
    """Sums of the NLLs of the tokens that are not selected, and of those that are: each piece alone, unpacked."""
    others, selected = torch.zeros((), dtype=model.dtype), torch.zeros((), dtype=model.dtype)
    for each in rows:
        first = 0
        for size in each.pieces:
            ids = torch.tensor(each.ids[first : first + size].astype(np.int64))
            logprobs = model(ids[None]).logits[0].log_softmax(-1)
            for place in range(1, size):
                if each.labels[first + place] == IGNORED:
                    continue
                nll = -logprobs[place - 1, ids[place]] * float(each.loss_weight[first + place])
                if each.selected[first + place]:
                    selected = selected + nll
                else:
                    others = others + nll
            first += size
    return others, selected


def reference_gradients(
    model: PreTrainedModel, micro_batches: Sequence[Sequence[Row]], parts: str
) -> list[torch.Tensor]:
    """The formula, in float64 and with nothing shared with the code: a backward pass of its own for each part."""
    model = model.double()
    parameters = [each for each in model.parameters() if each.requires_grad]
    supervised = sum(int((each.labels != IGNORED).sum()) for rows in micro_batches for each in rows)
    total = [torch.zeros_like(each) for each in parameters]
    for rows in micro_batches:
        of_parts = []
        for part in (0, 1):
            model.zero_grad(set_to_none=False)
            (losses_one_by_one(model, rows)[part] / supervised).backward()
            of_parts.append([torch.zeros_like(each) if each.grad is None else each.grad.clone() for each in parameters])
        g_b, g_s = of_parts
        length_b, length_s = (sum(float((each**2).sum()) for each in gradients) ** 0.5 for gradients in of_parts)
        factor = {"one": 1.0, "scale": 0.25, "clip": min(1.0, 0.25 * length_b / max(length_s, 1e-12))}[parts]
        total = [before + b + factor * s for before, b, s in zip(total, g_b, g_s, strict=True)]
    model.zero_grad()
    return total


def double_qwen3() -> PreTrainedModel:
    return qwen3().double()
