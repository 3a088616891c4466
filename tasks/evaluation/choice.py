"""Which sanitizer is evaluated, as frozen data that travels in task parameters."""

import hashlib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from tasks.evaluation.baselines import Baseline
from tasks.shards.steps import MixEntry


class BaselineSanitizer(BaseModel):
    """One that asks no model."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["baseline"] = "baseline"
    baseline: Baseline

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.baseline


class OutputsSanitizer(BaseModel):
    """A file of clean texts made elsewhere."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["outputs"] = "outputs"
    path: Path
    sha256: str = Field(description="of the file as it was when the run began")

    @classmethod
    def of(cls, path: Path) -> "OutputsSanitizer":
        """Take the file as it is now."""
        return cls(path=path.resolve(), sha256=sha256_of(path))

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.path.stem


class PresidioSanitizer(BaseModel):
    """Microsoft's Presidio: what it finds is masked, whatever the request says."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["presidio"] = "presidio"
    spacy_model: str = Field(min_length=1, description="an installed package, or a folder")

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return f"presidio-{Path(self.spacy_model).name}"


class ModelSanitizer(BaseModel):
    """A model that is asked by one prompt."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["model"] = "model"
    entry: MixEntry

    @property
    def name(self) -> str:
        """What it is called in tables."""
        return self.entry.endpoint.model


class ServedSanitizer(BaseModel):
    """A cleaner that `privasis serve` serves, with all that it refuses to pass on."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["served"] = "served"
    url: str = Field(pattern=r"^https?://[^\s/]+", description="as `privasis serve` tells it")
    model: str = Field(min_length=1, description="that it cleans with, as it says itself")
    at_once: int = Field(ge=1, description="texts that it works on side by side")

    @property
    def name(self) -> str:
        """What it is called in tables: the model's name, with the beginning of the hash of its weights."""
        name, _, digest = self.model.partition("@")
        return f"{name}-{digest.rpartition(':')[2][:8]}" if digest else name


AnySanitizer = Annotated[
    BaselineSanitizer | OutputsSanitizer | PresidioSanitizer | ModelSanitizer | ServedSanitizer,
    Field(discriminator="kind"),
]


def sha256_of(path: Path) -> str:
    """Return the hash of a file's content, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
