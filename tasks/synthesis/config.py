"""What shapes a synthetic record. Any change here makes finished shards stale."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from tasks.synthesis.draws import DrawConfig

Temperature = Annotated[float, Field(ge=0, le=2)]


class Temperatures(BaseModel):
    """How freely each kind of step is sampled (values that work in practice, ``privasis.md`` section 1)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    profile: Temperature = 0.0
    record_types: Temperature = 1.2
    contexts: Temperature = 1.0
    formats: Temperature = 1.0
    draft: Temperature = 0.7
    revision: Temperature = 0.7
    judge: Temperature = 0.0
    extraction: Temperature = 0.0


class RefinementConfig(BaseModel):
    """Diversity-preserving refinement (PV section 2.1): S = alpha LLMScore + beta (Vendi gain), accepted above tau."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    steps: int = Field(default=3, ge=0, le=10, description="revisions offered; 0 is the ablation without revision")
    diversity: bool = Field(
        default=True, description="off: the judge alone decides, the ablation without diversity term"
    )
    alpha: float = Field(default=0.5, ge=0, description="weight of the judge's preference")
    beta: float = Field(default=0.5, ge=0, description="weight of the Vendi gain; belongs to the pool size")
    tau: float = Field(default=0.5, description="a revision is taken when S is above this")
    pool_size: int = Field(default=300, ge=0, le=2048, description="n_P, accepted records drawn to compare with")


class SynthesisConfig(BaseModel):
    """The chain's settings."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    language: str = Field(default="English", description="the language records are written in")
    words: int = Field(default=500, ge=80, le=3000, description="length asked of a record, in words")
    draws: DrawConfig = DrawConfig()
    record_types: int = Field(default=10, ge=1, le=30, description="record types listed, one of them drawn")
    kinds_shown: int = Field(default=4, ge=0, le=40, description="kinds of document named as a reminder, drawn anew")
    contexts: int = Field(default=5, ge=1, le=30, description="backgrounds listed, one of them drawn")
    formats: int = Field(default=10, ge=1, le=30, description="formats listed, one of them drawn")
    record_type_and_format: bool = Field(default=True, description="off: the ablation without type and format")
    refinement: RefinementConfig = RefinementConfig()
    attributes: int = Field(default=40, ge=1, le=100, description="attributes asked of one text at most")
    label_share: float = Field(default=1.0, ge=0, le=1, description="share of records given a domain label")
    temperatures: Temperatures = Temperatures()
    attempts: int = Field(default=3, ge=1, le=10, description="how often one step is asked, first time included")
    repeat_penalty: float | None = Field(default=None, ge=1, le=2, description="for small models, which loop without")
