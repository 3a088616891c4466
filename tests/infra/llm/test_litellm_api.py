import importlib.metadata
from collections.abc import Awaitable, Callable, Iterator
from importlib.util import find_spec
from typing import Any

import pytest
from aiohttp import web

from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.llm.connect import Endpoint, connect
from infra.llm.failures import NothingThere
from infra.llm.litellm_api import LiteLLMBackend, load_litellm
from infra.llm.types import BackendGone, BackendUnavailable, Message, Request, RequestRejected
from infra.packages import PackageMissing

# Looked for without its import, which asks the network unless it is told not to.
pytestmark = pytest.mark.skipif(find_spec("litellm") is None, reason="an extra")

Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"], "additionalProperties": False}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig(seed=1)) as running:
        yield running


def backend_of(base_url: str, **changes: Any) -> LiteLLMBackend:
    fields = {"model": "openai/simulator", "base_url": base_url, "api_key_env": None, "adapter": "litellm"}
    backend = connect(Endpoint(**fields | changes))
    assert isinstance(backend, LiteLLMBackend)
    return backend


async def test_a_chat_comes_back_as_from_the_server_itself(simulator: Simulator) -> None:
    request = Request((Message("user", "Write a note of 20 words."),))
    async with backend_of(simulator.base_url) as through:
        reply = await through.complete(request)
    direct = Endpoint(model="simulator", base_url=simulator.base_url, api_key_env=None)
    async with connect(direct) as backend:
        expected = await backend.complete(request)
    assert reply.text
    assert reply.usage.prompt == expected.usage.prompt
    assert reply.usage.completion > 0
    assert reply.finish_reason == "stop"


async def test_a_schema_reaches_the_server(simulator: Simulator) -> None:
    async with backend_of(simulator.base_url) as backend:
        reply = await backend.complete(Request((Message("user", "Answer."),), schema=SCHEMA))
    assert reply.text.startswith('{"a":')


@pytest.mark.parametrize(
    ("status", "error", "expected"),
    [
        (401, {"message": "Incorrect API key provided", "code": "invalid_api_key"}, BackendGone),
        (404, {"message": "The model does not exist", "code": "model_not_found"}, NothingThere),
        (400, {"message": "maximum context length is 10 tokens", "code": "context_length_exceeded"}, RequestRejected),
        (429, {"message": "Rate limit reached", "code": "rate_limit_exceeded"}, BackendUnavailable),
        (503, {"message": "overloaded", "code": "x"}, BackendUnavailable),
    ],
)
async def test_errors_are_ours(serve: Serve, status: int, error: Any, expected: type[Exception]) -> None:
    async def handle(_: web.Request) -> web.Response:
        return web.json_response({"error": error}, status=status)

    async with backend_of(await serve(handle), max_attempts=1) as backend:
        with pytest.raises(expected) as caught:
            await backend.complete(Request((Message("user", "Hi"),)))
    assert type(caught.value) is expected


async def test_it_is_tried_again_by_our_rules_only(serve: Serve) -> None:
    calls = 0

    async def handle(_: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        return web.json_response({"error": {"message": "oops"}}, status=500)

    async with backend_of(await serve(handle), max_attempts=2) as backend:
        with pytest.raises(BackendUnavailable, match="failed 2 times"):
            await backend.complete(Request((Message("user", "Hi"),)))
    assert calls == 2


async def test_nobody_there_is_unavailable() -> None:
    async with backend_of("http://127.0.0.1:9/v1", max_attempts=1) as backend:
        with pytest.raises(BackendUnavailable):
            await backend.complete(Request((Message("user", "Hi"),)))


@pytest.mark.parametrize("version", ["1.82.7", "1.82.8", "1.107.0", "1.107.3"])
def test_releases_that_must_not_run_are_refused(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setattr(importlib.metadata, "version", lambda _: version)
    with pytest.raises(PackageMissing, match=version):
        load_litellm()
