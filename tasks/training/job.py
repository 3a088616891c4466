"""What the processes that train are told, in a file."""

import hashlib
import json
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.training.ds_config import DeepSpeedConfig

FILE = "job.json"
MODEL = "model"
CHECKPOINTS = "checkpoints"
TRAIN = "train.arrow"
VALIDATION = "validation.arrow"

_HOW_OFTEN = {"evaluate_every", "save_every"}  # changes nothing in what comes out


class LoraConfig(BaseModel):
    """Adapters of low rank beside every linear layer, instead of all weights."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    rank: int = Field(default=16, ge=1)
    alpha: int = Field(default=32, ge=1, description="the adapters' output counts alpha / rank times")
    dropout: float = Field(default=0.0, ge=0, lt=1)


class TrainingJob(BaseModel):
    """One training run.

    Two that are equal but for how often they evaluate and save are the same run.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    model: str = Field(description="name, with the hash of its weights")
    source: str = Field(description="folder that transformers loads it from")
    end_of_turn: int = Field(ge=0, description="token that ends an answer")
    train_sha256: str = Field(description="of the examples")
    validation_sha256: str | None = Field(description="none: nothing to evaluate on")
    deepspeed: DeepSpeedConfig
    lora: LoraConfig | None = None
    gradient_checkpointing: bool = True
    seed: int = Field(default=0, ge=0)
    evaluate_every: int = Field(default=50, ge=1, description="steps")
    save_every: int = Field(default=50, ge=1, description="steps")

    def fingerprint(self) -> str:
        """Return a hash of all that decides what comes out."""
        text = json.dumps(self.model_dump(mode="json", exclude=_HOW_OFTEN), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()


class JobUnreadable(ValueError):
    """A folder holds a job that this version cannot read."""


def read_job(folder: Path) -> TrainingJob | None:
    """Return the job whose output is in ``folder``, None where there is none yet.

    Raises:
        JobUnreadable: it is of another version, or damaged.
    """
    file = folder / FILE
    try:
        return TrainingJob.model_validate_json(file.read_bytes()) if file.exists() else None
    except ValidationError as error:
        place = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))
        raise JobUnreadable(f"{file}: damaged, or of another version ({place or 'no JSON'})") from error
