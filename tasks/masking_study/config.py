"""What a study of masked training is made of; one TOML file a study and scale holds its numbers."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from tasks.corpora.code_pii.config import CodePiiConfig
from tasks.corpora.code_quirks.config import CodeQuirksConfig
from tasks.measuring.answers import AnswerSettings
from tasks.measuring.extraction.attack import ExtractionSettings
from tasks.training.ds_config import DeepSpeedConfig, read_config
from tasks.training.job import LoraConfig
from tasks.training.masked.config import Action, FromScratch, Start

StudyName = Literal["code-pii", "code-quirks"]
ScaleName = Literal["mini", "paper"]
_SCALES = Path(__file__).parent / "scales"
_READY = Path(__file__).parents[2] / "deploy/deepspeed"


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class PrivateCorpus(CodePiiConfig):
    """A corpus with private values."""

    kind: Literal["code-pii"] = "code-pii"

    def made(self) -> CodePiiConfig:
        """Return it as it is made."""
        return CodePiiConfig(**self.model_dump(exclude={"kind"}))


class HabitCorpus(CodeQuirksConfig):
    """A corpus with users' habits."""

    kind: Literal["code-quirks"] = "code-quirks"

    def made(self) -> CodeQuirksConfig:
        """Return it as it is made."""
        return CodeQuirksConfig(**self.model_dump(exclude={"kind"}))


class Methods(_Part):
    """Which rows the tables get, beside unmasked and oracle."""

    recalls: tuple[int, ...] = Field(min_length=1, description="target recalls in percent: 95 makes SM95")
    random: tuple[int, ...] = Field(default=(), description="of these, those with a random masking of their budget")
    goldfish: tuple[int, ...] = Field(default=(2, 3), description="k of the Goldfish loss, in both modes")
    actions: tuple[Action, ...] = Field(default=(), description="beside `loss`, at the last recall")

    @model_validator(mode="after")
    def _match_what_is_there(self) -> Self:
        if strange := set(self.random) - set(self.recalls):
            raise ValueError(f"random maskings at {sorted(strange)}: only the recalls {self.recalls} have a budget")
        if "loss" in self.actions:
            raise ValueError("actions: `loss` is what every method does: leave it out")
        return self


class Training(_Part):
    """How each model is trained; the seed comes from the plan."""

    start: Start
    vocabulary: int | None = Field(default=None, ge=260, description="of a model from scratch; others have their own")
    settings: DeepSpeedConfig = Field(description="or the name of a file in deploy/deepspeed")
    engine: Literal["torch", "deepspeed"] = "torch"
    length: int = Field(ge=8)
    pack: bool = True
    lora: LoraConfig | None = None
    gradient_checkpointing: bool = False

    @field_validator("settings", mode="before")
    @classmethod
    def _read_ready_settings(cls, given: object) -> object:
        return read_config(_READY / f"{given}.json") if isinstance(given, str) else given

    @model_validator(mode="after")
    def _a_vocabulary_is_of_a_model_from_scratch(self) -> Self:
        if isinstance(self.start, FromScratch) is not (self.vocabulary is not None):
            raise ValueError("vocabulary: a model from scratch needs its size, any other model has its own")
        return self


class Measuring(_Part):
    """What is asked of each model."""

    extraction: ExtractionSettings | None = Field(default=None, description="none: the corpus has no private values")
    answers: AnswerSettings
    prompts: int | None = Field(
        default=None, ge=1, description="first development prompts that are answered; none: all"
    )
    run_s: int = Field(ge=1, description="limit of wall time and of CPU time of an answer with its tests")


class Scale(_Part):
    """A study at one size."""

    corpus: Annotated[PrivateCorpus | HabitCorpus, Field(discriminator="kind")]
    reference: str = Field(min_length=1, description="model whose surprise decides")
    context: int | None = Field(default=None, ge=16, description="tokens that it reads at once; none: all it can")
    methods: Methods
    training: Training
    measuring: Measuring
    seeds: tuple[int, ...] = Field(min_length=1)
    threads: int | None = Field(
        default=None, ge=1, description="CPU threads of each model, of small ones best one; none: all cores"
    )

    @property
    def study(self) -> StudyName:
        """Which study it is a size of."""
        return self.corpus.kind


def scale_of(study: StudyName, scale: ScaleName) -> Scale:
    """Read the numbers of a study at one size."""
    return Scale.model_validate(tomllib.loads((_SCALES / f"{study}-{scale}.toml").read_text(encoding="utf-8")))
