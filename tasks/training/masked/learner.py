"""What the training loop needs of whatever holds the model; plain torch, on one device, is one such thing."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Protocol

import torch

from tasks.training import checkpoints
from tasks.training.ds_config import DeepSpeedConfig
from tasks.training.masked.batch import RowBatch
from tasks.training.masked.gradients import clipped, scaled

Parts = Literal["one", "scale", "clip"]
_SUFFIX = ".pt"


class Learner(Protocol):
    """A model and its optimizer.

    Attributes:
        device: on which batches are laid out.
        rank: of this process, from 0.
        processes: how many learn side by side, each calling the same in the same order.
    """

    device: torch.device
    rank: int
    processes: int

    def begin(self, rate: float) -> None:
        """Begin a step of this learning rate."""
        ...

    def nll(self, batch: RowBatch, parts: Parts) -> torch.Tensor:
        """Return the weighted NLL of each token that counts, shape (K,)."""
        ...

    def add(self, others: torch.Tensor, selected: torch.Tensor, parts: Parts) -> float | None:
        """Add the gradients of a micro-batch to those of the step; returns the factor c of ``clip``.

        Args:
            others: loss of the tokens that are not selected, already divided by all supervised tokens of the step.
            selected: likewise of those that are.
            parts: how the two are put together.
        """
        ...

    def finish(self) -> float:
        """End the step, after its last micro-batch; returns the norm of its gradients before it was clipped."""
        ...

    def summed(self, values: torch.Tensor) -> torch.Tensor:
        """Return the sum over processes, shape unchanged."""
        ...

    def save(self, folder: Path, steps: int) -> None:
        """Write a checkpoint of ``steps`` steps: whole before it counts."""
        ...

    def load(self, folder: Path) -> int:
        """Go to where the newest checkpoint was, and return the steps behind it, 0 where there is none."""
        ...


class TorchLearner:
    """Plain torch, one process: weights and AdamW in float32, matrix products in bfloat16 where that is asked for.

    Args:
        model: in training mode, in float32, on its device; parameters that need no gradient stay as they are.
        settings: batches, AdamW, clipping and precision; what is DeepSpeed's alone is not looked at.
    """

    rank = 0
    processes = 1

    def __init__(self, model: torch.nn.Module, settings: DeepSpeedConfig) -> None:
        self.model = model
        self.parameters = [each for each in model.parameters() if each.requires_grad]
        self.device = self.parameters[0].device
        self._bf16 = settings.bf16.enabled
        self._most = settings.gradient_clipping
        self._optimizer = torch.optim.AdamW(
            self.parameters, fused=True, **_adamw(settings.optimizer.params.model_dump())
        )

    def begin(self, rate: float) -> None:
        """Set the rate."""
        for group in self._optimizer.param_groups:
            group["lr"] = rate

    def nll(self, batch: RowBatch, parts: Parts) -> torch.Tensor:
        """Run the model."""
        with torch.autocast(self.device.type, dtype=torch.bfloat16, enabled=self._bf16):
            return batch.nll(self.model)

    def add(self, others: torch.Tensor, selected: torch.Tensor, parts: Parts) -> float | None:
        """Add to ``.grad``."""
        match parts:
            case "one":
                (others + selected).backward()
            case "scale":
                scaled(others, selected).backward()
            case "clip":
                gradients, factor = clipped(others, selected, self.parameters)
                for parameter, gradient in zip(self.parameters, gradients, strict=True):
                    parameter.grad = gradient if parameter.grad is None else parameter.grad + gradient
                return factor
        return None

    def finish(self) -> float:
        """Clip, step, and forget the gradients."""
        norm = torch.nn.utils.clip_grad_norm_(self.parameters, self._most or torch.inf)
        self._optimizer.step()
        self._optimizer.zero_grad(set_to_none=True)
        return float(norm)

    def summed(self, values: torch.Tensor) -> torch.Tensor:
        """Of one process."""
        return values

    def save(self, folder: Path, steps: int) -> None:
        """Write one file, and name it in ``latest`` once it is whole, as DeepSpeed's checkpoints are."""
        folder.mkdir(parents=True, exist_ok=True)
        tag = checkpoints.tag(steps)
        held = {"weights": self.weights(), "optimizer": self._optimizer.state_dict()}
        with (folder / f"{tag}{_SUFFIX}").open("wb") as file:
            torch.save(held, file)
            file.flush()
            os.fsync(file.fileno())
        checkpoints.publish(folder, tag)
        for other in folder.glob(f"*{_SUFFIX}"):
            if other.stem != tag:
                other.unlink()

    def load(self, folder: Path) -> int:
        """Read it again; nothing but tensors and numbers is unpickled."""
        steps = checkpoints.steps_done(folder)
        if steps:
            file = folder / f"{checkpoints.tag(steps)}{_SUFFIX}"
            held: Mapping[str, Any] = torch.load(file, map_location=self.device, weights_only=True)
            with torch.no_grad():
                for name, parameter in self.model.named_parameters():
                    if parameter.requires_grad:
                        parameter.copy_(held["weights"][name])
            self._optimizer.load_state_dict(held["optimizer"])
        return steps

    def weights(self) -> dict[str, torch.Tensor]:
        """Return what is trained, by name."""
        return {name: each.detach() for name, each in self.model.named_parameters() if each.requires_grad}


def _adamw(params: Mapping[str, Any]) -> dict[str, Any]:
    """Take what torch's AdamW knows, too."""
    return {name: params[name] for name in ("lr", "betas", "eps", "weight_decay") if name in params}
