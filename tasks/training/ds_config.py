"""A DeepSpeed configuration file, of which we read what decides about batches, steps and processes."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

_HIGHEST = "warmup_max_lr"  # of the scheduler


class DeepSpeedUnfit(ValueError):
    """A DeepSpeed configuration is missing, or not one that we can train by. The message says what to change."""


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")  # the rest is DeepSpeed's own


class _SchedulerParameters(_Part):
    total_num_steps: int = Field(ge=1)
    warmup_num_steps: int = Field(ge=0)


class _Scheduler(_Part):
    type: Literal["WarmupDecayLR", "WarmupCosineLR"]
    params: _SchedulerParameters


class _Switch(_Part):
    enabled: bool = False


class _Zero(_Part):
    stage: int = Field(default=0, ge=0, le=3)


class _OptimizerParameters(_Part):
    lr: float = Field(gt=0)


class _Optimizer(_Part):
    type: str
    params: _OptimizerParameters


class DeepSpeedConfig(_Part):
    """What is in the file.

    ``train_batch_size`` is that of all processes together, and so it says how many there are.
    """

    train_batch_size: int = Field(ge=1)
    train_micro_batch_size_per_gpu: int = Field(ge=1)
    gradient_accumulation_steps: int = Field(ge=1)
    optimizer: _Optimizer
    scheduler: _Scheduler
    bf16: _Switch = _Switch()
    fp16: _Switch = _Switch()
    gradient_clipping: float = Field(default=0.0, ge=0, description="greatest norm of the gradients; 0 for any")
    zero_optimization: _Zero = _Zero()

    @model_validator(mode="after")
    def _check(self) -> Self:
        of_one = self.train_micro_batch_size_per_gpu * self.gradient_accumulation_steps
        if self.train_batch_size % of_one:
            raise ValueError(
                f"train_batch_size {self.train_batch_size} is no multiple of train_micro_batch_size_per_gpu *"
                f" gradient_accumulation_steps = {of_one}"
            )
        if self.fp16.enabled:
            raise ValueError("fp16 skips steps whose gradients overflow, and the loss curve with them: use bf16")
        if self.scheduler.params.warmup_num_steps > self.steps:
            raise ValueError(
                f"warmup_num_steps {self.scheduler.params.warmup_num_steps} of total_num_steps {self.steps}: the"
                " learning rate would never be reached"
            )
        highest = (self.scheduler.params.model_extra or {}).get(_HIGHEST, self.learning_rate)
        if highest != self.learning_rate:
            raise ValueError(
                f"optimizer.params.lr {self.learning_rate:g}, scheduler.params.{_HIGHEST} {highest}: make them equal,"
                " or leave the latter out"
            )
        return self

    @property
    def steps(self) -> int:
        """Steps of the optimizer until training ends."""
        return self.scheduler.params.total_num_steps

    @property
    def learning_rate(self) -> float:
        """The highest of all steps."""
        return self.optimizer.params.lr

    @property
    def processes(self) -> int:
        """How many processes train, each on a GPU of its own where there are GPUs."""
        return self.train_batch_size // (self.train_micro_batch_size_per_gpu * self.gradient_accumulation_steps)

    @property
    def dtype(self) -> Literal["bfloat16", "float32"]:
        """In which the model computes."""
        return "bfloat16" if self.bf16.enabled else "float32"

    def with_steps(self, steps: int) -> Self:
        """Return the configuration for another number of steps; the warm-up keeps its share."""
        before = self.scheduler.params
        warmup = round(before.warmup_num_steps * steps / before.total_num_steps)
        params = before.model_copy(update={"total_num_steps": steps, "warmup_num_steps": max(1, warmup)})
        return self.model_copy(update={"scheduler": self.scheduler.model_copy(update={"params": params})})

    def raw(self) -> dict[str, Any]:
        """Return it as DeepSpeed takes it."""
        values = self.model_dump(mode="json")
        if self.scheduler.type == "WarmupDecayLR":  # which takes no notice of the optimizer's, and has one of its own
            values["scheduler"]["params"].setdefault(_HIGHEST, self.learning_rate)
        return values


def read_config(path: Path) -> DeepSpeedConfig:
    """Read a file.

    Raises:
        DeepSpeedUnfit: it is not there, no JSON, or lacks what we need; the message says what.
    """
    try:
        values: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        return DeepSpeedConfig.model_validate(values)
    except FileNotFoundError as error:
        raise DeepSpeedUnfit(f"{path}: no such file; there are ready ones in deploy/deepspeed") from error
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
        raise DeepSpeedUnfit(f"{path}: {'; '.join(faults)}") from error
    except (ValueError, RecursionError) as error:  # no JSON, no UTF-8, or nested beyond measure
        raise DeepSpeedUnfit(f"{path}: not JSON: {error}") from error
