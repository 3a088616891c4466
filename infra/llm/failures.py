"""What an error answer of an OpenAI-protocol server means: whose turn is it now?"""

import re
from collections.abc import Mapping
from typing import Any, NoReturn

import orjson

from infra.llm.connect import Endpoint
from infra.llm.retry import Throttled, TransientFailure, retry_after
from infra.llm.types import BackendGone, RequestRejected

_REJECTED = frozenset({400, 413, 422})
_TRANSIENT = frozenset({408, 409, 425, 429})  # and everything from 500
_TOO_LONG = re.compile(
    r"context[ _](?:length|size|window)|maximum context|too many (?:input )?tokens"
    r"|(?:prompt|request|input) (?:is )?too (?:long|large)",
    re.IGNORECASE,
)
_API_KEY = re.compile(r"api[ _-]?key", re.IGNORECASE)
# These come with a 400 or 429, but every other request would fail in the same way: no row is to blame.
_FAULTS_OF_CONFIGURATION = {
    "insufficient_quota": "the account has no credit left",
    "billing_hard_limit_reached": "the account has no credit left",
    "invalid_api_key": "the key is wrong",
    "model_not_found": "the server has no such model",
    "unknown_parameter": "the server does not know a parameter: see extra_body and the capability flags",
    "unsupported_parameter": "the model does not take a parameter: see the capability flags of the endpoint",
    "unsupported_value": "the model does not take a parameter's value: see the capability flags of the endpoint",
}
_DETAIL_CHARS = 200  # servers may echo the whole request in an error


class NothingThere(BackendGone):
    """A 404: there is no such method, model, file or batch; who asks for something that may be gone can tell."""


def raise_for_status(
    status: int, headers: Mapping[str, str], body: bytes, endpoint: Endpoint, now_s: float
) -> NoReturn:
    """Raise what an answer other than HTTP 200 means.

    Args:
        status: of HTTP.
        headers: with case-insensitive names, for Retry-After.
        body: the error object, or whatever came instead.
        endpoint: who answered.
        now_s: wall clock, for dates in Retry-After.

    Raises:
        RequestRejected: the request will never work.
        BackendGone: the configuration has to change first.
        TransientFailure: another try may work.
    """
    try:
        answer = orjson.loads(body)
    except orjson.JSONDecodeError:
        answer = body.decode("utf-8", "replace")
    error = answer.get("error", answer) if isinstance(answer, dict) else answer
    _raise(f"http_{status}", status, error, endpoint, retry_after(headers, now_s))


def raise_for_error_object(error: object, endpoint: Endpoint) -> NoReturn:
    """Raise what an error object inside HTTP 200 means, as if it had come with the status it names.

    Raises:
        RequestRejected, BackendGone, TransientFailure: as ``raise_for_status``.
    """
    fields = error if isinstance(error, dict) else {}
    code = str(fields.get("code"))
    kind = f"{code} {fields.get('type')}"
    if code.isdecimal() and 400 <= int(code) < 600:
        status = int(code)
    else:
        status = 429 if "rate_limit" in kind else 400 if "invalid_request" in kind else 500
    _raise(f"error_in_200_{status}", status, error, endpoint, None)


def _raise(kind: str, status: int, error: object, endpoint: Endpoint, retry_after_s: float | None) -> NoReturn:
    code, message = _read(error)
    where = f"{endpoint.model}: HTTP {status}"
    if code in _FAULTS_OF_CONFIGURATION:
        raise BackendGone(f"{where}: {_FAULTS_OF_CONFIGURATION[code]} ({message})", endpoint.model)
    if status in {401, 402, 403} or (status in _REJECTED and _API_KEY.search(message)):
        variable = endpoint.api_key_env or "none; set api_key_env, the server wants a key"
        raise BackendGone(f"{where}: check the key (variable: {variable}) and what its account may use", endpoint.model)
    if status in _REJECTED or _TOO_LONG.search(message):
        raise RequestRejected(f"{where}: {message}")
    if status == 429:
        raise Throttled(kind, f"HTTP 429: {message}", retry_after_s)
    if status in _TRANSIENT or status >= 500:
        raise TransientFailure(kind, f"HTTP {status}: {message}", retry_after_s)
    address = endpoint.base_url or "(OpenAI's)"
    gone = NothingThere if status == 404 else BackendGone
    raise gone(f"{where}: check the model's name and the base URL {address} ({message})", endpoint.model)


def _read(error: Any) -> tuple[str, str]:  # noqa: ANN401 - whatever a server sends
    """Return code and message of an error object, the message on one line and cut."""
    fields = error if isinstance(error, dict) else {"message": error}
    message = str(fields.get("message") or fields.get("detail") or "no message")
    return str(fields.get("code") or fields.get("type") or ""), " ".join(message.split())[:_DETAIL_CHARS]
