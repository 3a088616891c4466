"""Answers as they go over the wire, good ones and broken ones."""

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from aiohttp import web
from pydantic import ValidationError

_JSON = {"Content-Type": "application/json"}
_RETRY_AFTER = {"Retry-After": "1"}  # seconds
_ABORT = struct.pack("ii", 1, 0)  # SO_LINGER: on, no time to linger, so that closing sends RST


def success(answer: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> web.Response:
    """Answer 200 with a JSON body."""
    return web.Response(body=orjson.dumps(answer), headers={**_JSON, **headers} if headers else _JSON)


def error(status: int, code: str, message: str, headers: Mapping[str, str] | None = None) -> web.Response:
    """Answer with an error object as the OpenAI protocol has it."""
    answer = {"error": {"message": message, "type": code, "param": None, "code": code}}
    return web.Response(status=status, body=orjson.dumps(answer), headers={**_JSON, **(headers or {})})


def complaint(failure: ValidationError) -> str:
    """Name the places of a request that are wrong, without their values: those are prompts."""
    errors = failure.errors(include_input=False, include_url=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, each['loc'])) or 'body'}: {each['msg']}" for each in errors)


ERRORS: Mapping[str, Callable[[], web.Response]] = {
    "rate_limited": lambda: error(429, "rate_limit_exceeded", "Rate limit reached, try again later.", _RETRY_AFTER),
    "rate_limited_bare": lambda: error(429, "rate_limit_exceeded", "Too many requests."),
    "server_error": lambda: error(500, "server_error", "The server had an error while processing your request."),
    "unavailable": lambda: error(503, "overloaded", "The engine is overloaded, please try again later."),
    "key_revoked": lambda: error(401, "invalid_api_key", "Incorrect API key provided."),
    "model_gone": lambda: error(404, "model_not_found", "The model has been retired."),
    "error_in_200": lambda: error(200, "server_error", "The upstream provider returned an error."),
}


async def hang() -> None:
    """Never return; the server cancels this when the client goes away."""
    await asyncio.Event().wait()


def refuse(request: web.Request) -> web.Response:
    """Reset the connection before the first byte of an answer."""
    transport = _transport(request)
    raw: socket.socket = transport.get_extra_info("socket")
    raw.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _ABORT)
    transport.abort()
    return web.Response()  # goes nowhere


async def break_off(request: web.Request, body: bytes) -> web.StreamResponse:
    """Promise a whole body, send half of it, and close the connection."""
    response = web.StreamResponse(headers={**_JSON, "Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    _transport(request).close()
    return response


def _transport(request: web.Request) -> asyncio.Transport:
    if request.transport is None:
        raise ConnectionResetError("the client has gone already")
    return request.transport
