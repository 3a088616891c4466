"""One of the processes of a DeepSpeed test: does one step of plain gradient descent, and tells what it subtracted."""

import os
import sys
from pathlib import Path
from typing import Any

import deepspeed
import torch
import torch.distributed as dist

from tasks.training.job import LoraConfig
from tasks.training.masked.batch import RowBatch
from tasks.training.masked.deepspeed_learner import learner_of
from tasks.training.masked.models import with_adapters
from tasks.training.order import Order
from tests.tasks.surprise.scoring.tiny import qwen3
from tests.tasks.training.masked.small import packed, row, settings

PIECES = ((12, 5), (9,), (7, 6, 4), (17,), (8, 8), (11,), (5, 5, 5), (14,))
ROWS = [row(seed, pieces) for seed, pieces in enumerate(PIECES, 1)]
SUPERVISED = sum(int((each.labels >= 0).sum()) for each in ROWS)
LORA = LoraConfig(rank=4, alpha=8)


def order(processes: int) -> Order:
    return Order([each.ids.size for each in ROWS], 2, 4 // processes, processes, seed=0)


def model_of(adapters: bool) -> Any:
    base = packed(qwen3())
    if not adapters:
        return base
    model = with_adapters(base, LORA)
    torch.manual_seed(3)
    for name, parameter in model.named_parameters():
        if "lora_B" in name:
            torch.nn.init.normal_(parameter, std=0.1)
    return model


def main(folder: Path) -> None:
    """Try each way of putting parts together, at each stage, with all weights and with adapters."""
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    deepspeed.init_distributed("gloo")
    processes = dist.get_world_size()
    found = {
        (parts, stage, adapters): one_step(parts, stage, adapters, processes)
        for parts in ("one", "scale", "clip")
        for stage, adapters in ((1, False), (2, False), (2, True))
    }
    if dist.get_rank() == 0:
        torch.save(found, folder / "found.pt")
    dist.barrier()


def one_step(parts: Any, stage: int, adapters: bool, processes: int) -> list[torch.Tensor]:
    model = model_of(adapters)
    trained = [each for each in model.parameters() if each.requires_grad]
    before = [each.detach().clone() for each in trained]
    asked = settings(
        train_batch_size=8,
        train_micro_batch_size_per_gpu=2,
        gradient_accumulation_steps=4 // processes,
        optimizer={"type": "SGD", "params": {"lr": 1.0}},
        zero_optimization={"stage": stage},
        zero_allow_untested_optimizer=True,
    )
    learner = learner_of(model, asked)
    learner.begin(1.0)
    for places in order(processes).micro_batches(0, learner.rank):
        batch = RowBatch.of([ROWS[place] for place in places], learner.device)
        nll = learner.nll(batch, parts)
        selected = batch.selected.to(nll.dtype)
        learner.add((nll * (1 - selected)).sum() / SUPERVISED, (nll * selected).sum() / SUPERVISED, parts)
    learner.finish()
    return [a - b.detach() for a, b in zip(before, trained, strict=True)]


if __name__ == "__main__":
    os.environ.setdefault("DS_ACCELERATOR", "cpu")
    torch.set_num_threads(1)
    main(Path(sys.argv[1]))
