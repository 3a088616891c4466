"""Chat completions: reads the request, writes the answer, and puts it in the protocol's envelope."""

from collections.abc import Mapping
from functools import cached_property
from random import Random
from typing import Annotated, Any, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, model_validator

from infra.engines.simulator.config import Fault
from infra.engines.simulator.faults import Asked, generator
from infra.engines.simulator.prompt import Brief, read_prompt
from infra.engines.simulator.prose import write_text
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.schema import walker_of
from infra.engines.simulator.spoil import Content, spoil
from infra.engines.simulator.stock import pick
from infra.engines.simulator.tokens import count_tokens, cut_tokens

_CREATED = 1_700_000_000  # seconds; a clock would give the same body two answers
_FOREIGN = ("Korean", "Chinese", "German", "Spanish", "French")


class TextPart(BaseModel):
    """A piece of a turn; pictures and sound are not understood."""

    type: Literal["text"]
    text: str


class Turn(BaseModel):
    """One message of a conversation."""

    role: Literal["system", "developer", "user", "assistant"]
    content: str | list[TextPart]

    def text(self) -> str:
        """Return the content as one string."""
        return self.content if isinstance(self.content, str) else "".join(part.text for part in self.content)


class NamedSchema(BaseModel):
    """What ``response_format`` wraps a schema in."""

    json_schema: dict[str, Any] = Field(alias="schema")


class ResponseFormat(BaseModel):
    """Text, any JSON object, or JSON under a schema."""

    type: Literal["text", "json_object", "json_schema"]
    json_schema: NamedSchema | None = None

    @model_validator(mode="after")
    def _names_its_schema(self) -> Self:
        if (self.type == "json_schema") != (self.json_schema is not None):
            raise ValueError("json_schema has to be given with type json_schema, and only with it")
        return self


class ChatBody(BaseModel):
    """The part of a chat request that matters here; sampling settings are accepted and only tell bodies apart."""

    model_config = ConfigDict(extra="ignore")

    model: str
    messages: Annotated[list[Turn], Field(min_length=1)]
    max_tokens: int | None = Field(default=None, ge=1)
    max_completion_tokens: int | None = Field(default=None, ge=1)
    response_format: ResponseFormat | None = None
    stream: Literal[False] | None = None
    n: Literal[1] | None = None

    @cached_property
    def tokens(self) -> list[int]:
        """Count the tokens of each turn, as ``usage`` does."""
        return [count_tokens(turn.text()) for turn in self.messages]

    @property
    def prompt_tokens(self) -> int:
        """Count the prompt, as ``usage`` does."""
        return sum(self.tokens)

    @property
    def schema_asked(self) -> dict[str, Any] | None:
        """Return the JSON schema the answer has to follow, or None for free text."""
        if self.response_format is None or self.response_format.type == "text":
            return None
        named = self.response_format.json_schema
        return named.json_schema if named else {"type": "object"}

    @property
    def asked(self) -> Asked:
        """Say which faults make sense for this request."""
        return "text" if self.schema_asked is None else "json"


def answer_chat(body: ChatBody, key: int, seed: int, fault: Fault | None, fault_rng: Random) -> dict[str, Any]:
    """Answer a request: the same body and seed give the same answer, which ``fault`` may then spoil.

    Raises:
        UnsupportedSchema: the response format has a schema this server cannot follow.
    """
    schema = body.schema_asked
    brief = read_prompt(turn.text() for turn in body.messages if turn.role == "user")
    language = _another(brief.language, fault_rng) if fault == "wrong_language" else brief.language
    text = _write(brief, language, generator(seed, key), schema)
    content = spoil(fault, text, fault_rng, schema)
    return _envelope(body, key, _limited(content, body.max_completion_tokens or body.max_tokens))


def _write(brief: Brief, language: str, rng: Random, schema: Mapping[str, Any] | None) -> str:
    scene = Scene(rng, brief, language)
    return write_text(scene) if schema is None else orjson.dumps(walker_of(schema)(scene)).decode()


def _another(language: str, rng: Random) -> str:
    return pick(rng, [foreign for foreign in _FOREIGN if foreign != language]) if language == "English" else "English"


def _limited(content: Content, limit: int | None) -> Content:
    """Cut an answer at the asked number of tokens."""
    if limit is None or content.tokens() <= limit:
        return content
    if content.text is None:
        return Content(None, cut_tokens(content.reasoning or "", limit), is_cut=True)
    return Content(cut_tokens(content.text, limit), is_cut=True)


def _envelope(body: ChatBody, key: int, content: Content) -> dict[str, Any]:
    prompt, completion = body.prompt_tokens, content.tokens()
    message: dict[str, Any] = {"role": "assistant", "content": content.text}
    if content.reasoning is not None:
        message["reasoning_content"] = content.reasoning
    return {
        "id": f"chatcmpl-{key:016x}",
        "object": "chat.completion",
        "created": _CREATED,
        "model": body.model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "logprobs": None,
                "finish_reason": "length" if content.is_cut else "stop",
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": completion,
            "total_tokens": prompt + completion,
            "prompt_tokens_details": {"cached_tokens": _cached_tokens(body)},
            "completion_tokens_details": {"reasoning_tokens": count_tokens(content.reasoning or "")},
        },
    }


def _cached_tokens(body: ChatBody) -> int:
    """Count the instructions that open a conversation, as if a prefix cache held them from an earlier call."""
    opens_with_instructions = len(body.messages) > 1 and body.messages[0].role != "user"
    return body.tokens[0] if opens_with_instructions else 0
