"""DeepSpeed as the training loop needs it."""

from pathlib import Path
from typing import Any

import deepspeed  # type: ignore[import-untyped]
import torch
import torch.distributed as dist
from deepspeed.accelerator import get_accelerator  # type: ignore[import-untyped]
from transformers import AutoTokenizer

from tasks.training import checkpoints, job
from tasks.training.ds_config import DeepSpeedConfig
from tasks.training.engine import Engine
from tasks.training.masked.batch import RowBatch
from tasks.training.masked.gradients import clipped, scaled
from tasks.training.masked.job import MaskedJob
from tasks.training.masked.learner import Parts
from tasks.training.masked.loop import run_steps
from tasks.training.masked.models import load_model
from tasks.training.weights import gathered, write_model


class Along(torch.nn.Module):
    """A model, and besides a function that is linear in its weights: its gradient is whatever one says.

    DeepSpeed's engine counts backward passes, and has lost gradients where there were several in a micro-batch. With
    this it always sees one forward and one backward, also where the gradient was put together elsewhere.
    """

    def __init__(self, model: torch.nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, along: list[torch.Tensor] | None = None, **inputs: Any) -> Any:  # noqa: ANN401 - the model's
        """Run the model; or return the sum of products of trained weights with ``along``, whose gradient that is."""
        if along is None:
            return self.model(**inputs)
        trained = [each for each in self.model.parameters() if each.requires_grad]
        return torch.stack([(w * g).sum() for w, g in zip(trained, along, strict=True)]).sum()


class DeepSpeedLearner:
    """A DeepSpeed engine; of ZeRO 1 to 3, for ``clip`` up to 2, since it needs all weights in their place.

    Args:
        engine: around an ``Along``.
        settings: those that it was made with.
    """

    def __init__(self, engine: Engine, settings: DeepSpeedConfig) -> None:
        self.engine = engine
        self.device = engine.device
        self.rank, self.processes = dist.get_rank(), dist.get_world_size()
        self._settings = settings
        self._module: Along = engine.module
        self._trained = [each for each in self._module.parameters() if each.requires_grad]
        # It divides by the micro-batches, and averages over processes; our losses are divided already.
        self._undo = settings.gradient_accumulation_steps * self.processes
        engine.train()

    def begin(self, rate: float) -> None:
        """Set the rate."""
        for group in self.engine.optimizer.param_groups:
            group["lr"] = rate

    def nll(self, batch: RowBatch, parts: Parts) -> torch.Tensor:
        """Run the model: past the engine where the gradient is put together before it is told."""
        return batch.nll(self._module.model if parts == "clip" else self.engine)

    def add(self, others: torch.Tensor, selected: torch.Tensor, parts: Parts) -> float | None:
        """Let the engine go backward once."""
        factor = None
        match parts:
            case "one":
                loss = others + selected
            case "scale":
                loss = scaled(others, selected)
            case "clip":
                gradients, factor = clipped(others, selected, self._trained)
                loss = self.engine(along=gradients)
        self.engine.backward(loss * self._undo)
        self.engine.step()  # counts the micro-batch; with the last one it averages over processes and steps
        return factor

    def finish(self) -> float:
        """Tell the norm: the engine has stepped with the last micro-batch."""
        return float(self.engine.get_global_grad_norm())

    def summed(self, values: torch.Tensor) -> torch.Tensor:
        """Add up over processes."""
        there = values.to(self.device)
        dist.all_reduce(there)
        return there.cpu()

    def save(self, folder: Path, steps: int) -> None:
        """Write DeepSpeed's checkpoint."""
        checkpoints.save(self.engine, folder, steps)

    def load(self, folder: Path) -> int:
        """Read it again."""
        return checkpoints.load(self.engine, folder)


def train_with_deepspeed(folder: Path, asked: MaskedJob) -> None:
    """Train as one of several processes, each on a GPU of its own where there are GPUs.

    Raises:
        TrainingStopped: a loss or a gradient is no number.
    """
    if get_accelerator().device_name() == "cpu":
        deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False  # compiled at the first start, in a minute
    deepspeed.init_distributed()
    model = load_model(asked, getattr(torch, asked.deepspeed.dtype))
    learner = learner_of(model, asked.deepspeed)
    run_steps(learner, folder, asked)
    state = gathered(model, partitioned=asked.deepspeed.zero_optimization.stage == 3)
    if learner.rank == 0:
        tokenizer = AutoTokenizer.from_pretrained(asked.source, trust_remote_code=False)
        write_model(model, state, tokenizer, asked, folder / job.MODEL)
    dist.barrier()
    dist.destroy_process_group()


def learner_of(model: torch.nn.Module, settings: DeepSpeedConfig) -> DeepSpeedLearner:
    """Put an engine around a model; the learning rate is left to the loop."""
    around = Along(model)
    trained = [each for each in around.parameters() if each.requires_grad]
    config = {name: value for name, value in settings.raw().items() if name != "scheduler"}
    engine, *_ = deepspeed.initialize(model=around, model_parameters=trained, config=config)
    return DeepSpeedLearner(engine, settings)
