"""What servers take beyond the OpenAI protocol: constraints on a reply, penalties against loops."""

import re
from typing import Any, Literal

import orjson

from infra.llm.types import Request

Dialect = Literal["openai", "llama_cpp", "vllm"]

# Small models fill the gaps between tokens of JSON with white space for ever where they may.
_COMPACT = {"x-guidance": {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}}


def constraint(request: Request, dialect: Dialect) -> dict[str, Any]:
    """Return the fields of a chat completion that constrain its text.

    llama.cpp is given a grammar rather than a ``response_format``: that would also switch on its reply parser, which
    fails replies that the token limit cut.
    """
    if request.schema is not None:
        if dialect == "llama_cpp":
            return {"grammar": "%llguidance {}\nstart: %json " + orjson.dumps({**request.schema, **_COMPACT}).decode()}
        return {"response_format": {"type": "json_schema", "json_schema": {"name": "reply", "schema": request.schema}}}
    if request.sampling.forbidden_characters:
        # Only what a class needs escaped: an escape it does not know makes llama.cpp drop the grammar without a word.
        allowed = "[^" + re.sub(r"([\]\[\\^-])", r"\\\1", request.sampling.forbidden_characters) + "]+"
        if dialect == "llama_cpp":
            return {"grammar": f"%llguidance {{}}\nstart: /{allowed}/"}
        if dialect == "vllm":
            return {"structured_outputs": {"regex": allowed}}
    return {}


def penalty(repeat_penalty: float, dialect: Dialect) -> dict[str, Any]:
    """Return the fields of a chat completion that keep a small model from repeating itself."""
    match dialect:
        case "llama_cpp":
            return {"repeat_penalty": repeat_penalty}
        case "vllm":
            return {"repetition_penalty": repeat_penalty}
        case "openai":
            return {}
