"""What shapes a judgement. Any change here makes finished evaluations stale."""

from pydantic import BaseModel, ConfigDict, Field

from tasks.synthesis.config import Temperature


class EvaluationConfig(BaseModel):
    """The settings of the evaluator."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    temperature: Temperature = Field(default=0.0, description="of the evaluator")
    sanitizer_temperature: Temperature = Field(default=0.0, description="of a sanitizer that is asked by one prompt")
    attempts: int = Field(default=3, ge=1, le=10, description="how often one question is asked, first time included")
