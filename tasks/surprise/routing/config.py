"""How sentences are routed and rewritten."""

from pydantic import BaseModel, ConfigDict, Field

PRIVATE = (
    "names of people and of small organisations, user names, addresses, phone numbers, e-mail addresses, dates of"
    " birth, numbers of accounts, documents and customers, credentials and keys, and any other detail by which a person"
    " could be told from others"
)


class RoutingConfig(BaseModel):
    """What is private, how much is sent, and how texts are rewritten and judged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    private: str = Field(default=PRIVATE, min_length=1, description="what a text must not tell afterwards")
    budgets: tuple[float, ...] = Field(
        default=(0.1, 0.2, 0.8), description="shares of all sentences to rewrite, each an intervention of its own"
    )
    whole: bool = Field(default=True, description="whole documents are rewritten beside them")
    context_characters: int = Field(default=400, ge=0, description="shown on each side of a sentence")
    attempts: int = Field(default=3, ge=1, description="how often a call is repeated whose reply cannot be used")
    temperature: float = Field(default=0.0, ge=0, le=2)
    propositions: int = Field(default=12, ge=1, le=50, description="facts of a document that the judge looks for")
