"""What we use of DeepSpeed's engine, which has no types of its own."""

from typing import Any, Protocol

import torch


class Engine(Protocol):
    """A model, its optimizer and its scheduler, spread over processes; each process calls the same in the same order.

    Attributes:
        device: of this process.
        global_steps: steps of the optimizer so far.
        module: the model that it was made around.
        optimizer: DeepSpeed's, around the one that was asked for.
    """

    device: torch.device
    global_steps: int
    module: Any
    optimizer: Any

    def __call__(self, **inputs: Any) -> Any:  # noqa: ANN401 - what the model takes and gives
        """Run the model."""
        ...

    def train(self) -> object:
        """Switch dropout on."""
        ...

    def eval(self) -> object:
        """Switch dropout off."""
        ...

    def backward(self, loss: torch.Tensor) -> object:
        """Add the gradients of ``loss`` divided by the number of micro-batches."""
        ...

    def step(self) -> object:
        """Count a micro-batch; with the last of a step, average over processes and step."""
        ...

    def get_lr(self) -> list[float]:
        """Return the learning rate of the next step, by parameter group."""
        ...

    def get_global_grad_norm(self) -> float:
        """Return the norm of the last step's gradients, before they were clipped."""
        ...

    def save_checkpoint(self, save_dir: str, tag: str, *, save_latest: bool, exclude_frozen_parameters: bool) -> object:
        """Write what this process has of weights and optimizer."""
        ...

    def load_checkpoint(self, load_dir: str, tag: str, *, load_module_strict: bool) -> object:
        """Read it again."""
        ...
