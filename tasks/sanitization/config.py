"""What shapes a triplet. Any change here makes finished shards stale."""

from pydantic import BaseModel, ConfigDict, Field

from tasks.sanitization.chunks import LEAST_LIMIT, MOST_LIMIT
from tasks.synthesis.config import Temperature


class SanitizationConfig(BaseModel):
    """The settings of sanitization (PV section 3.1, ``privasis.md`` section 4)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    chunk_characters: int = Field(
        default=512, ge=LEAST_LIMIT, le=MOST_LIMIT, description="most characters of a chunk; PV Figure 5 compares sizes"
    )
    group_share: float = Field(default=0.6, ge=0, le=1, description="probability that a target is a whole group")
    abstract_share: float = Field(default=0.5, ge=0, le=1, description="probability of ABSTRACT; of DROP, the rest")
    retained: int = Field(default=3, ge=1, le=10, description="retention targets a record, 1 to this many")
    omit_members_share: float = Field(
        default=0.5, ge=0, le=1, description="probability that the final request names a group without its members"
    )
    span_similarity: float = Field(
        default=85, ge=50, le=100, description="least likeness, in percent, of a miscopied span to the place it is at"
    )
    cold: Temperature = Field(default=0.0, description="temperature of weights, chunks, spans and rewriting")
    warm: Temperature = Field(default=0.7, description="temperature of instructions")
    attempts: int = Field(default=3, ge=1, le=10, description="how often one step is asked, first time included")
