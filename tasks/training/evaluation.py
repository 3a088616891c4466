"""The loss on examples that are not trained on."""

import torch
import torch.distributed as dist

from tasks.training.engine import Engine
from tasks.training.examples import ExampleFile
from tasks.training.loss import weighted_nll
from tasks.training.order import evaluation_batches
from tasks.training.packing import Batch


@torch.no_grad()
def evaluation_loss(engine: Engine, examples: ExampleFile, micro: int) -> float:
    """Return the mean NLL of all tokens to be learnt, in nats; every process calls it and gets the same.

    Args:
        engine: of DeepSpeed.
        examples: all of them are read once.
        micro: how many a process reads at once.
    """
    engine.eval()
    total = torch.zeros((), dtype=torch.float64, device=engine.device)
    for places in evaluation_batches(examples.lengths, micro, dist.get_world_size())[dist.get_rank()]:
        # With ZeRO 3 the others wait for this process in every layer: it reads something, and counts nothing.
        nll = weighted_nll(engine, Batch.of([examples[place] for place in places or [0]], engine.device))
        if places:
            total += nll.item()
    dist.all_reduce(total)
    return total.item() / float(examples.weights.sum())
