"""How large a Code PII corpus is; the defaults are the paper's (SM appendix A.1)."""

from pydantic import BaseModel, ConfigDict, Field

from tasks.corpora.code_pii.identities import MOST


class CodePiiConfig(BaseModel):
    """What a corpus is made of. Growing a number adds rows; rows that were there stay as they were, by id."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = 0
    identities: int = Field(default=25, ge=1, le=MOST, description="people; each has a value of each of four kinds")
    bundles: int = Field(
        default=25, ge=1, le=999, description="repositories of each; a value stands in four files of each"
    )
    calibration_identities: int = Field(default=6, ge=1, le=MOST, description="people to calibrate on")
    calibration_bundles: int = Field(default=5, ge=1, le=999, description="repositories of each of them")
    tasks: int | None = Field(default=None, ge=9, description="tasks that training is drawn from; default all")
    development_tasks: int = Field(default=150, ge=1, description="tasks to measure utility on")
