"""How each kind of server is told what a reply may look like."""

from typing import Any, Literal

import orjson

from infra.llm.types import Request

Dialect = Literal["openai", "llama_cpp", "vllm"]

# Small models fill the gaps between tokens of JSON with white space for ever where they may.
_COMPACT = {"x-guidance": {"whitespace_flexible": False}}


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
        allowed = "[^" + "".join(f"\\{each}" for each in request.sampling.forbidden_characters) + "]+"
        if dialect == "llama_cpp":
            return {"grammar": f"%llguidance {{}}\nstart: /{allowed}/"}
        if dialect == "vllm":
            return {"structured_outputs": {"regex": allowed}}
    return {}
