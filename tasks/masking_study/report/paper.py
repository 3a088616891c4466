"""What the paper reports on a study, to stand beside what we measure."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from tasks.masking_study.config import StudyName

_FILE = Path(__file__).parent / "paper.toml"
Figure = Literal["approximate", "exact", "display", "pass5", "coverage"]
Reported = Mapping[str, tuple[float, ...]]


class Paper(BaseModel):
    """A study's figures in percent, by the name of the method; of one figure its value and maybe its standard error."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    source: str
    others: str = Field(description="what it tells in words")
    approximate: Reported = {}
    exact: Reported = {}
    display: Reported = {}
    pass5: Reported = {}
    coverage: Reported = {}
    kinds: Reported = Field(default={}, description="of the four kinds of values, in their order")
    budgets: Reported = Field(default={}, description="of 1, 8, 16, 32, 64, 128 continuations")

    def shown(self, figure: Figure, method: str) -> str:
        """Write a figure of a method as a cell of a table; empty where the paper has none."""
        given: Reported = getattr(self, figure)
        return " ± ".join(f"{value:.1f}" for value in given.get(method, ()))


def paper_on(study: StudyName) -> Paper:
    """Return the paper's figures on a study."""
    return Paper.model_validate(tomllib.loads(_FILE.read_text(encoding="utf-8"))[study])
