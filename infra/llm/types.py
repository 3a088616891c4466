"""What every language-model backend speaks: requests, replies, and errors that say whose turn it is."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

import numpy as np
import numpy.typing as npt

JsonSchema = Mapping[str, Any]
Role = Literal["system", "user", "assistant"]
FinishReason = Literal["stop", "length", "content_filter"]


@dataclass(frozen=True, slots=True)
class Message:
    """One turn of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Sampling:
    """How the next tokens are drawn; part of a request's identity."""

    temperature: float = 0.0
    max_tokens: int = 1024
    top_p: float = 1.0
    seed: int = 0  # below 2**31: some servers reject more
    repeat_penalty: float | None = None  # llama.cpp and vLLM know it, paid APIs do not; sent only when set
    forbidden_characters: str = ""  # never written in a free text, where the server can see to that


@dataclass(frozen=True, slots=True)
class Request:
    """One model call.

    Attributes:
        messages: the conversation, the part shared with other calls first (prefix caches reuse it).
        sampling: temperature, length, seed.
        schema: the JSON schema the reply must follow, or None for free text.
        tags: who asks (``record_id``, ``step``, ``attempt``): for counters and logs, never sent to the model.
    """

    messages: tuple[Message, ...]
    sampling: Sampling = Sampling()
    schema: JsonSchema | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one or many calls, as billed; ``cached`` is within ``prompt``, ``reasoning`` within ``completion``."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        """Sum field by field."""
        return Usage(
            self.prompt + other.prompt,
            self.cached + other.cached,
            self.completion + other.completion,
            self.reasoning + other.reasoning,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered.

    Attributes:
        text: the answer with reasoning split off; may be empty, which is the caller's to judge.
        reasoning: what stood in a ``<think>`` block, a harmony analysis channel or a separate field.
        finish_reason: ``length`` means the token limit cut the text.
        model: the name the server reported.
        latency_s: from sending the request to the last byte, without time spent queued on our side.
    """

    text: str
    finish_reason: FinishReason
    usage: Usage
    model: str
    reasoning: str = ""
    latency_s: float = 0.0


class ModelError(Exception):
    """Base of the three ways in which a call fails. Carries one message, so that it pickles across Ray."""


class RequestRejected(ModelError):
    """This request never works (too long, invalid, forbidden): quarantine the row, do not repeat."""


class BackendUnavailable(ModelError):
    """The backend cannot answer now, after the client's own retries: give up the shard, try it later."""


class BackendGone(BackendUnavailable):
    """The backend will never answer as it is configured: the key is revoked, the model gone, the account empty.

    Trying again is no use before a person has changed something.

    Attributes:
        model: whose it was.
    """

    def __init__(self, message: str, model: str) -> None:
        super().__init__(message, model)  # both, so that it pickles
        self.model = model

    def __str__(self) -> str:
        return str(self.args[0])


class ReplyUnusable(ModelError):
    """The backend answered, but not with something usable: ask again or quarantine.

    ``reason`` is a short name to count by; the message says what is wrong, in words the model can be shown.
    """

    @property
    def reason(self) -> str:
        """Name of this kind of failure."""
        return "unusable_reply"


class Backend(Protocol):
    """A model that completes chats."""

    @property
    def model(self) -> str:
        """The model's name, as stored with each row."""
        ...

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``.

        Raises:
            RequestRejected: the request can never work.
            BackendUnavailable: no answer after the retries of this client.
        """
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...


class Embedder(Protocol):
    """A model that maps texts to vectors."""

    @property
    def model(self) -> str:
        """The model's name, as stored in the manifest."""
        ...

    @property
    def dimension(self) -> int:
        """Length of one vector."""
        ...

    async def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors of shape (len(texts), dimension)."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...


@dataclass(frozen=True, slots=True)
class Searched:
    """What a model answered that searches the web.

    Attributes:
        searches: how often it searched; each is billed.
        sources: addresses that the answer cites, in order, each once.
    """

    text: str
    usage: Usage
    searches: int
    sources: tuple[str, ...]


class SearchUnusable(ReplyUnusable):
    """A model that searches the web answered with nothing usable; that is paid for all the same.

    Attributes:
        searched: what it took.
    """

    def __init__(self, message: str, searched: Searched) -> None:
        super().__init__(message, searched)  # both, so that it pickles
        self.searched = searched

    def __str__(self) -> str:
        return str(self.args[0])


class Searcher(Protocol):
    """A model that searches the web before it answers."""

    @property
    def model(self) -> str:
        """The model's name, as stored with each row."""
        ...

    async def search(self, messages: Sequence[Message], schema: JsonSchema) -> Searched:
        """Answer with JSON of ``schema``.

        Raises:
            RequestRejected: the request can never work.
            SearchUnusable: it did not come to an answer.
            BackendUnavailable: no answer after the retries of this client.
        """
        ...
