"""Why a run stopped, told by the process that knows to the one that started it."""

import json
import math
from collections.abc import Sequence
from pathlib import Path

FILE = "stopped.json"


class TrainingStopped(Exception):
    """Training cannot go on. The message says at which step, why, and what to do; no text of records is in it."""


def check_finite(value: float, what: str, step: int, ids: Sequence[str]) -> None:
    """Stop at a loss or a gradient that is no number.

    Args:
        value: the loss or the norm of the gradients.
        what: which of them it is.
        step: counted from 1.
        ids: of the examples that it was computed from.

    Raises:
        TrainingStopped: it is infinite or not a number.
    """
    if not math.isfinite(value):
        raise TrainingStopped(
            f"step {step}: {what} is {value}. Examples of the batch: {', '.join(ids)}. Look at these, lower the"
            " learning rate, or train in another precision; nothing of this step was saved"
        )


def tell(folder: Path, stopped: TrainingStopped) -> None:
    """Write down why; of several processes the last is heard."""
    (folder / FILE).write_text(json.dumps({"message": str(stopped)}), encoding="utf-8")


def told(folder: Path) -> TrainingStopped | None:
    """Return what a process has told, None if nothing."""
    file = folder / FILE
    return TrainingStopped(json.loads(file.read_text(encoding="utf-8"))["message"]) if file.exists() else None
