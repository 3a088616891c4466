"""What a simulated server does: how fast it answers, what it gets wrong, and how much it lets through."""

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field

TransportFault = Literal[
    "rate_limited",  # 429 with Retry-After
    "rate_limited_bare",  # 429 without
    "server_error",  # 500
    "unavailable",  # 503
    "hang",  # accepted, never answered
    "reset",  # the connection breaks, before the answer or in the middle of it
    "error_in_200",  # an error object where the answer should be
]
ContentFault = Literal[
    "truncated",  # cut in the middle, finish_reason length
    "empty",  # content ""
    "null_content",  # content null, the text in reasoning_content
    "refusal",
    "think",  # <think>...</think> before the answer
    "think_unopened",  # only </think>
    "think_unclosed",  # only <think>, the answer never comes
]
TextFault = Literal["wrong_language"]  # free text only
JsonFault = Literal[
    "invalid_json",
    "fenced_json",  # valid, in a markdown fence after a sentence
    "wrong_schema",  # valid, of another shape
    "trailing_comma",
]
LastingFault = Literal[  # never drawn unless asked for: what they stand for does not pass
    "key_revoked",  # 401
    "model_gone",  # 404
]
Fault = Literal[TransportFault, ContentFault, TextFault, JsonFault, LastingFault]

TRANSPORT_FAULTS: tuple[TransportFault, ...] = get_args(TransportFault)
CONTENT_FAULTS: tuple[ContentFault, ...] = get_args(ContentFault)
TEXT_FAULTS: tuple[TextFault, ...] = get_args(TextFault)
JSON_FAULTS: tuple[JsonFault, ...] = get_args(JsonFault)
LASTING_FAULTS: tuple[LastingFault, ...] = get_args(LastingFault)
FAULTS: tuple[Fault, ...] = (*TRANSPORT_FAULTS, *CONTENT_FAULTS, *TEXT_FAULTS, *JSON_FAULTS)


class SimulatorConfig(BaseModel):
    """One simulated server. Its tokens cost nothing."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int = Field(default=0, ge=0, lt=2**63, description="another seed, other answers and other faults")
    model: str = Field(default="simulator", min_length=1, description="the one model it serves")
    latency_ms: float = Field(default=0, ge=0, description="median time to an answer")
    latency_jitter: float = Field(
        default=0, ge=0, le=2, description="sigma of the lognormal factor on latency-ms; 0 makes it fixed"
    )
    fault_rate: float = Field(default=0, ge=0, le=1, description="share of calls that go wrong")
    faults: tuple[Fault, ...] = Field(default=FAULTS, min_length=1, description="what can go wrong, equally often")
    requests_per_second: float | None = Field(
        default=None, gt=0, description="more are answered 429; default: no limit"
    )
    tokens_per_minute: float | None = Field(default=None, gt=0, description="more are answered 429; default: no limit")
    batch_s: float = Field(default=0, ge=0, description="how long a batch of the Batch API takes")
    batch_expiry: float = Field(
        default=0, ge=0, lt=1, description="share of a batch's requests that are not run before it expires"
    )
    dimension: int = Field(default=384, ge=8, le=8192, description="length of an embedding")
