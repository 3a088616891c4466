"""The OpenAI protocol as data: request bodies and replies. No network here."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson

from infra.llm.connect import Endpoint
from infra.llm.dialect import constraint, penalty
from infra.llm.failures import raise_for_error_object
from infra.llm.reasoning import split_message
from infra.llm.retry import TransientFailure
from infra.llm.types import BackendUnavailable, FinishReason, Reply, Request, RequestRejected, Usage

_FINISH: Mapping[object, FinishReason] = {
    "stop": "stop",
    "eos": "stop",
    "eos_token": "stop",
    "stop_sequence": "stop",
    "end_turn": "stop",
    "length": "length",
    "max_tokens": "length",
    "content_filter": "content_filter",
}


def encode(body: Mapping[str, Any], model: str) -> bytes:
    """Serialize a request body.

    Raises:
        RequestRejected: a text holds a lone surrogate, which UTF-8 cannot carry.
    """
    try:
        return orjson.dumps(body)
    except orjson.JSONEncodeError as error:
        raise RequestRejected(f"{model}: the request is not valid JSON in UTF-8: {error}") from error


def chat_body(request: Request, endpoint: Endpoint) -> dict[str, Any]:
    """Return the body of a chat completion, with the fields that this server understands."""
    sampling = request.sampling
    body: dict[str, Any] = {
        "model": endpoint.model,
        "messages": [{"role": message.role, "content": message.content} for message in request.messages],
        endpoint.length_field: sampling.max_tokens,
    }
    if endpoint.sends_temperature:
        body |= {"temperature": sampling.temperature, "top_p": sampling.top_p}
    if endpoint.sends_seed:
        body["seed"] = sampling.seed
    if sampling.repeat_penalty is not None:
        body |= penalty(sampling.repeat_penalty, endpoint.dialect)
    body |= constraint(request, endpoint.dialect)
    return body | endpoint.extra_body


def read_reply(body: bytes, endpoint: Endpoint, *, wants_json: bool, latency_s: float) -> Reply:
    """Read a chat completion out of the body of an HTTP 200.

    Args:
        body: as received.
        endpoint: who answered.
        wants_json: the request had a schema.
        latency_s: from sending to the last byte.

    Raises:
        TransientFailure: nothing usable is in it.
        RequestRejected, BackendUnavailable: it holds an error object that says so.
    """
    answer = _read_object(body, endpoint)
    usage = _usage(answer)
    choices = answer.get("choices")
    if not choices:
        raise TransientFailure("no_choices", "a reply without choices", usage=usage)
    choice = _fields(choices[0]) if isinstance(choices, list) else {}
    message = _fields(choice.get("message"))
    reason = choice.get("finish_reason")
    if not message or not isinstance(reason, str) or reason not in _FINISH:
        raise TransientFailure("unfinished", f"a reply with finish reason {reason!r}", usage=usage)
    finish_reason = _FINISH[reason]
    text, reasoning = split_message(message)
    if not text and isinstance(refusal := message.get("refusal"), str) and refusal:
        text, finish_reason = refusal, "content_filter"
    if not text and wants_json and _is_json(reasoning):
        # Servers' reasoning parsers file a constrained answer that has no closing tag under reasoning. Free text stays
        # there: whether it is an answer or a leak, nobody can tell.
        text, reasoning = reasoning, ""
    return Reply(text, finish_reason, usage, str(answer.get("model") or endpoint.model), reasoning, latency_s)


def read_vectors(
    body: bytes, endpoint: Endpoint, *, count: int, dimension: int
) -> tuple[npt.NDArray[np.float32], Usage]:
    """Read ``count`` embeddings out of the body of an HTTP 200, in the order of the texts, and their token usage.

    Returns:
        Unit vectors of shape (count, dimension), whatever length the server gave them.

    Raises:
        BackendUnavailable: the vectors have another dimension, or an error object says so.
        TransientFailure: too few, too many, not finite or zero.
        RequestRejected: it holds an error object that says so.
    """
    answer = _read_object(body, endpoint)
    data = answer.get("data")
    items = [_fields(item) for item in data] if isinstance(data, list) else []
    rows = {item.get("index"): row for item in items if isinstance(row := item.get("embedding"), list)}
    if rows.keys() != set(range(count)):
        raise TransientFailure("malformed", f"not one embedding for each of {count} texts")
    found = next((len(row) for row in rows.values() if len(row) != dimension), dimension)
    if found != dimension:
        raise BackendUnavailable(f"{endpoint.model}: vectors of dimension {found}, configured: {dimension}; correct it")
    vectors = np.array([rows[index] for index in range(count)], dtype=np.float64)  # null reads as NaN
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not np.isfinite(norms).all() or not norms.all():
        raise TransientFailure("bad_vector", "an embedding that is zero or not finite")
    return (vectors / norms).astype(np.float32), _usage(answer)


def _read_object(body: bytes, endpoint: Endpoint) -> dict[str, Any]:
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise TransientFailure("not_json", f"HTTP 200 with {len(body)} bytes that are not JSON") from None
    if not isinstance(answer, dict):
        raise TransientFailure("not_json", f"HTTP 200 with a JSON {type(answer).__name__} instead of an object")
    if answer.get("error"):
        raise_for_error_object(answer["error"], endpoint)
    return answer


def _usage(answer: Mapping[str, Any]) -> Usage:
    usage = _fields(answer.get("usage"))
    if "prompt_tokens" not in usage:
        raise TransientFailure("no_usage", "a reply without token usage: its cost would be unknown")
    prompt = _count(usage, "prompt_tokens")
    return Usage(
        prompt=prompt,
        cached=min(_count(_fields(usage.get("prompt_tokens_details")), "cached_tokens"), prompt),
        completion=_count(usage, "completion_tokens"),
        reasoning=_count(_fields(usage.get("completion_tokens_details")), "reasoning_tokens"),
    )


def _fields(value: object) -> dict[str, Any]:
    """Return a JSON object as it is, and whatever else a server put in its place as an empty one."""
    return value if isinstance(value, dict) else {}


def _count(fields: Mapping[str, Any], name: str) -> int:
    value = fields.get(name)
    return value if isinstance(value, int) and value > 0 else 0


def _is_json(text: str) -> bool:
    try:
        return isinstance(orjson.loads(text), dict | list)
    except orjson.JSONDecodeError:
        return False
