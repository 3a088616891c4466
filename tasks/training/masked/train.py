"""Masked training as each process runs it, with plain torch or with DeepSpeed."""

from collections.abc import Sequence
from pathlib import Path

import torch
from transformers import AutoTokenizer

from tasks.training import job, stopped
from tasks.training.masked.job import MaskedJob, read_masked_job
from tasks.training.masked.learner import TorchLearner
from tasks.training.masked.loop import run_steps
from tasks.training.masked.models import load_model
from tasks.training.stopped import TrainingStopped
from tasks.training.weights import write_model


def main(arguments: Sequence[str]) -> None:
    """Train the job that is described in a folder, from its newest checkpoint on, and write the model into it.

    Args:
        arguments: the folder.

    Raises:
        TrainingStopped: a loss or a gradient is no number; the folder says so, too.
    """
    folder = Path(arguments[0])
    asked = read_masked_job(folder)
    if asked is None:
        raise FileNotFoundError(f"{folder / job.FILE}: no job to train")
    try:
        if asked.engine == "torch":
            train_with_torch(folder, asked)
        else:
            from tasks.training.masked.deepspeed_learner import train_with_deepspeed  # its import takes seconds

            train_with_deepspeed(folder, asked)
    except TrainingStopped as error:
        stopped.tell(folder, error)
        raise


def train_with_torch(folder: Path, asked: MaskedJob) -> None:
    """Train in this process, on the GPU where there is one.

    Raises:
        TrainingStopped: see ``main``.
    """
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    model = load_model(asked, torch.float32)
    torch.nn.Module.to(model, device)  # transformers' own is typed as something else
    learner = TorchLearner(model, asked.deepspeed)
    run_steps(learner, folder, asked)
    tokenizer = AutoTokenizer.from_pretrained(asked.source, trust_remote_code=False)
    state = {name: each.to("cpu", copy=True) for name, each in learner.weights().items()}
    write_model(model, state, tokenizer, asked, folder / job.MODEL)
