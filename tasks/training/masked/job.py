"""What the processes of masked training are told, in a file."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from tasks.training.job import FILE, TrainingJob
from tasks.training.masked.config import Action


class MaskedJob(TrainingJob):
    """One training run; ``train_sha256`` is of its rows, which hold the mask."""

    masking: str = Field(description="name of the masking")
    action: Action
    engine: Literal["torch", "deepspeed"]
    masks_sha256: str = Field(description="of the file of masks that all runs share")


def read_masked_job(folder: Path) -> MaskedJob | None:
    """Return the job whose output is in ``folder``, None where there is none yet."""
    file = folder / FILE
    return MaskedJob.model_validate_json(file.read_bytes()) if file.exists() else None
