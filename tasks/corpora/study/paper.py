"""What the paper reports on a benchmark, to stand beside what we measure."""

import tomllib
from collections.abc import Mapping
from pathlib import Path

from pydantic import BaseModel, ConfigDict

_FILE = Path(__file__).parent / "paper.toml"


class _Given(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Reported(_Given):
    """Figures of one method; None where the paper gives none."""

    precision: float | None = None
    recall: float | None = None
    f1: float | None = None
    auroc: float | None = None


class Paper(_Given):
    """A benchmark's figures.

    Attributes:
        reference: the reference model.
        source: where they are in the paper.
        unit: what is counted.
        rows: application to method to figures.
    """

    reference: str
    source: str
    unit: str
    rows: Mapping[str, Mapping[str, Reported]]


def paper_on(benchmark: str) -> Paper:
    """Return the paper's figures on a benchmark that is in ``paper.toml``."""
    return Paper.model_validate(tomllib.loads(_FILE.read_text(encoding="utf-8"))[benchmark])
