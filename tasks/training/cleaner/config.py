"""What a person says about a training run of the cleaner."""

from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from infra.shards.location import Location
from tasks.training.ds_config import DeepSpeedConfig
from tasks.training.job import LoraConfig

TINY = "tiny"


class CleanerRun(BaseModel):
    """One training run (PV section 4.1, Appendix C)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    data: Location = Field(description="an export, or a data set with triplets that are split")
    output: Path = Field(description="folder of the run; another call with it goes on where this one stood")
    model: str = Field(min_length=1, description="hub name, folder, embedded model, or tiny")
    revision: str | None = Field(default=None, description="on the hub; none means its default")
    deepspeed: DeepSpeedConfig
    length: int = Field(default=4096, ge=16, description="most tokens of an example; none is ever cut")
    too_long: Literal["leave_out", "fail"] = Field(default="leave_out", description="what becomes of longer ones")
    lora: LoraConfig | None = Field(default=None, description="none trains all weights")
    gradient_checkpointing: bool = Field(default=True, description="compute activations twice instead of keeping them")
    seed: int = Field(default=0, ge=0)
    evaluate_every: int = Field(default=50, ge=1, description="steps")
    save_every: int = Field(default=50, ge=1, description="steps")
