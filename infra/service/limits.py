"""How much a service takes."""

from pydantic import BaseModel, ConfigDict, Field


class ServiceLimits(BaseModel):
    """Limits of one service; what is over one is refused with a status of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    body_bytes: int = Field(default=8 << 20, ge=1, description="of one request; more is answered 413")
    text_characters: int = Field(default=200_000, ge=1, description="of one text; more is answered 422")
    batch_items: int = Field(default=64, ge=1, description="texts of one bulk request; more are answered 422")
    seconds: float = Field(default=300, gt=0, description="from arrival to answer; then 504")
    at_once: int = Field(default=16, ge=1, description="requests in work at once")
    waiting: int = Field(default=112, ge=0, description="requests that wait for their turn; more are answered 429")
    retry_after_s: int = Field(default=2, ge=1, description="what a refused client is told to wait")
