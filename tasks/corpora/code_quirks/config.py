"""How large a Code Quirks corpus is; the defaults are the paper's (SM appendix A.2)."""

from typing import Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.corpora.code_quirks.quirks import QUIRKS


class CodeQuirksConfig(BaseModel):
    """What a corpus is made of. Growing a number adds rows; rows that were there stay as they were, by id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    programs: int = Field(default=400, ge=1, description="of each of the ten users")
    tasks: int = Field(default=600, ge=1, description="pool that all users draw from")
    calibration_users: int = Field(default=6, ge=1, le=len(QUIRKS), description="other users, to calibrate on")
    calibration_programs: int = Field(default=30, ge=1, description="of each of them")
    development_tasks: int = Field(default=60, ge=1, description="tasks to measure utility on")
    display_tasks: int = Field(default=30, ge=1, description="of them, a quirk: where its display is measured")

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.programs > self.tasks:
            raise ValueError(f"{self.programs} programs a user need as many tasks, not {self.tasks}")
        if self.display_tasks > self.development_tasks:
            raise ValueError(
                f"{self.display_tasks} display tasks are taken from {self.development_tasks} development tasks"
            )
        return self
