"""What shapes a clean text beside the text and the request."""

from pydantic import BaseModel, ConfigDict, Field

from tasks.synthesis.config import Temperature

MOST_TOLD = 24  # earlier replacements that one part is told of
MOST_TOLD_BYTES = 1200  # of UTF-8, of all of them together


class CleaningConfig(BaseModel):
    """The settings of a cleaner at work (``privasis.md`` section 5)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    context_tokens: int = Field(
        default=4096, ge=512, description="prompt and reply of one request, as the model has it"
    )
    most_bytes: int = Field(
        default=8192,
        ge=512,
        description="a longer text goes part by part, room or not: about twice a record that cleaners learn from",
    )
    in_parts: bool = Field(default=True, description="cut a text that is too long; else it fails")
    temperature: Temperature = Field(default=0.0, description="of the first attempt")
    attempts: int = Field(default=3, ge=1, le=10, description="how often one part is asked, first time included")
    seed: int = Field(default=0, ge=0, lt=2**31, description="of later attempts, which are drawn")
