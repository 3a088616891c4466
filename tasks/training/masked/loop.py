"""Training: one loop, whatever holds the model, to be read from top to bottom."""

import time
from pathlib import Path

import numpy as np
import torch

from tasks.training import job, losses
from tasks.training.masked.batch import RowBatch
from tasks.training.masked.config import Action
from tasks.training.masked.job import MaskedJob
from tasks.training.masked.learner import Learner, Parts
from tasks.training.masked.rates import rate
from tasks.training.masked.rows import RowFile
from tasks.training.order import Order
from tasks.training.stopped import check_finite


def parts_of(action: Action) -> Parts:
    """Return how an action puts the gradients of selected and other tokens together."""
    return action if action in ("clip", "scale") else "one"


def run_steps(learner: Learner, folder: Path, asked: MaskedJob) -> None:
    """Train the job in ``folder`` from its newest checkpoint on; checkpoints and losses go there.

    Raises:
        TrainingStopped: a loss or a gradient is no number; the ids of the batch are told, nothing of it is saved.
    """
    begin = learner.load(folder / job.CHECKPOINTS)
    with losses.LossLog(folder / losses.FILE, begin) if learner.rank == 0 else losses.NoLog() as log:
        _steps(learner, folder, asked, begin, log)


def _steps(learner: Learner, folder: Path, asked: MaskedJob, begin: int, log: losses.LossLog | losses.NoLog) -> None:
    settings, parts, rows = asked.deepspeed, parts_of(asked.action), RowFile(folder / job.TRAIN)
    micro, accumulation = settings.train_micro_batch_size_per_gpu, settings.gradient_accumulation_steps
    order = Order(rows.lengths, micro, accumulation, learner.processes, asked.seed)
    for step in range(begin, settings.steps):
        began, number, at = time.monotonic(), step + 1, rate(settings, step)
        _seed(asked.seed, step, learner.rank)
        places = order.batch(step)
        supervised = int(rows.supervised[places].sum())
        learner.begin(at)
        sums, factors = torch.zeros(2, dtype=torch.float64), []
        for micro_batch in order.micro_batches(step, learner.rank):
            read = [rows[place] for place in micro_batch]
            batch = RowBatch.of(read, learner.device)
            nll = learner.nll(batch, parts)
            loss = nll.detach().sum().item()
            check_finite(loss, "the loss", number, _documents(rows, micro_batch))
            # Divided by all supervised tokens of the step, however unevenly they fall on micro-batches and whatever
            # their weight: an action changes what is learnt from a token, not what the others count.
            selected = batch.selected.to(nll.dtype)
            others = (nll * (1 - selected)).sum() / supervised
            factors.append(learner.add(others, (nll * selected).sum() / supervised, parts))
            sums += torch.tensor([loss, float(batch.loss_weight.sum())], dtype=torch.float64)
        norm = learner.finish()
        check_finite(norm, "the norm of the gradients", number, _documents(rows, places))
        total, weight = learner.summed(sums).tolist()
        log.write(
            {
                "step": number,
                "loss": total / weight if weight else 0.0,
                "learning_rate": at,
                "gradient_norm": norm,
                "tokens": int(rows.lengths[places].sum()),
                "counted": weight,
                "seconds": round(time.monotonic() - began, 3),
            }
            | ({"clip": float(np.mean([each for each in factors if each is not None]))} if parts == "clip" else {})
        )
        if number == settings.steps or number % asked.save_every == 0:
            log.sync()
            learner.save(folder / job.CHECKPOINTS, number)


def _documents(rows: RowFile, places: list[int]) -> list[str]:
    return list(dict.fromkeys(id_ for place in places for id_ in rows[place].documents))


def _seed(seed: int, step: int, rank: int) -> None:
    """Draw the random numbers of a step (dropout) from these, so that no checkpoint has to hold them."""
    torch.manual_seed(int(np.random.SeedSequence([seed, step, rank]).generate_state(1)[0]))
