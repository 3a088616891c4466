import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from infra.llm.connect import Endpoint, OpenAIEmbedding, connect, connect_embedder
from infra.llm.limits import AdaptiveLimit
from infra.llm.openai_api import OpenAIBackend, OpenAIEmbedder
from infra.llm.types import BackendUnavailable, Message, Request, RequestRejected, Usage

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
Serve = Callable[[Handler], Awaitable[str]]

ASK = Request((Message("user", "Hi"),))


def _endpoint(base_url: str, **changes: Any) -> Endpoint:
    return Endpoint(**{"model": "m", "base_url": base_url, "api_key_env": None, "max_attempts": 1} | changes)


def _backend(endpoint: Endpoint) -> OpenAIBackend:
    return OpenAIBackend(endpoint, "none", AdaptiveLimit(endpoint.max_in_flight))


def _chat(text: str = "Hello.") -> web.Response:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": 4, "completion_tokens": 2}
    return web.json_response({"model": "m", "choices": [choice], "usage": usage})


async def test_a_chat_goes_out_with_its_key_and_comes_back(serve: Serve, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    async def handle(request: web.Request) -> web.Response:
        seen.append((request.path, request.headers["Authorization"], await request.json()))
        return _chat()

    monkeypatch.setenv("ACME_KEY", "s3cret")
    async with connect(_endpoint(await serve(handle), api_key_env="ACME_KEY")) as backend:
        reply = await backend.complete(ASK)
    assert reply.text == "Hello."
    assert reply.usage == Usage(prompt=4, completion=2)
    assert reply.latency_s > 0
    ((path, authorization, body),) = seen
    assert (path, authorization) == ("/v1/chat/completions", "Bearer s3cret")
    assert body["messages"] == [{"role": "user", "content": "Hi"}]


async def test_a_server_that_recovers_is_tried_again(serve: Serve) -> None:
    answers = [web.Response(status=503, headers={"Retry-After": "0"}), _chat()]

    async def handle(_: web.Request) -> web.Response:
        return answers.pop(0)

    async with _backend(_endpoint(await serve(handle), max_attempts=2)) as backend:
        assert (await backend.complete(ASK)).text == "Hello."
        assert backend.counters.failures == {"http_503": 1}


async def test_a_rejected_request_is_sent_once(serve: Serve) -> None:
    async def handle(_: web.Request) -> web.Response:
        return web.json_response({"error": {"message": "context length exceeded"}}, status=400)

    async with _backend(_endpoint(await serve(handle), max_attempts=5)) as backend:
        with pytest.raises(RequestRejected, match="context length exceeded"):
            await backend.complete(ASK)
        assert backend.counters.sent == 1


async def test_a_hanging_server_times_out_although_it_keeps_the_connection(serve: Serve) -> None:
    async def handle(_: web.Request) -> web.Response:
        await asyncio.sleep(30)
        return _chat()

    async with _backend(_endpoint(await serve(handle), request_timeout_s=0.05)) as backend:
        with pytest.raises(BackendUnavailable, match=r"no answer within 0\.05 s"):
            await backend.complete(ASK)
        assert backend.counters.failures == {"timeout": 1}


async def test_a_slow_drip_is_bounded_by_the_whole_request(serve: Serve) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse()
        await response.prepare(request)
        for _ in range(200):
            await response.write(b" ")
            await asyncio.sleep(0.02)
        return response

    async with _backend(_endpoint(await serve(handle), request_timeout_s=0.1)) as backend:
        with pytest.raises(BackendUnavailable, match="no answer within"):
            await backend.complete(ASK)


async def test_waiting_for_a_permit_is_not_request_time(serve: Serve) -> None:
    async def handle(_: web.Request) -> web.Response:
        await asyncio.sleep(0.1)
        return _chat()

    endpoint = _endpoint(await serve(handle), max_in_flight=1, request_timeout_s=0.4)
    async with _backend(endpoint) as backend:  # the last of eight waits 0.7 s for its turn
        replies = await asyncio.gather(*[backend.complete(ASK) for _ in range(8)])
    assert [reply.text for reply in replies] == ["Hello."] * 8
    assert max(reply.latency_s for reply in replies) < 0.4


async def test_a_reset_connection_is_a_failed_try(serve: Serve) -> None:
    async def handle(request: web.Request) -> web.Response:
        assert request.transport is not None
        request.transport.abort()
        return _chat()

    async with _backend(_endpoint(await serve(handle))) as backend:
        with pytest.raises(BackendUnavailable):
            await backend.complete(ASK)
        assert backend.counters.failures == {"connection": 1}


async def test_a_body_cut_short_is_a_failed_try(serve: Serve) -> None:
    async def handle(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "1000"})
        await response.prepare(request)
        await response.write(b'{"choices": [')
        assert request.transport is not None
        request.transport.abort()
        return response

    async with _backend(_endpoint(await serve(handle))) as backend:
        with pytest.raises(BackendUnavailable):
            await backend.complete(ASK)
        assert backend.counters.failures == {"connection": 1}


async def test_nobody_there_is_unavailable() -> None:
    async with _backend(_endpoint("http://127.0.0.1:9/v1")) as backend:
        with pytest.raises(BackendUnavailable, match="m: failed 1 times"):
            await backend.complete(ASK)


async def test_a_proxy_of_the_environment_is_not_asked_for_loopback(
    serve: Serve, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def handle(_: web.Request) -> web.Response:
        return _chat()

    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.delenv("NO_PROXY", raising=False)
    async with connect(_endpoint(await serve(handle))) as backend:
        assert (await backend.complete(ASK)).text == "Hello."


async def test_as_many_requests_are_open_as_allowed_and_no_more(serve: Serve) -> None:
    inside = peak = 0
    full = asyncio.Event()

    async def handle(_: web.Request) -> web.Response:
        nonlocal inside, peak
        inside += 1
        peak = max(peak, inside)
        if inside == 150:
            full.set()
        await full.wait()
        inside -= 1
        return _chat()

    async with _backend(_endpoint(await serve(handle), max_in_flight=150)) as backend:
        await asyncio.wait_for(asyncio.gather(*[backend.complete(ASK) for _ in range(200)]), 20)
    assert peak == 150


async def test_embeddings_come_in_batches_and_in_order(serve: Serve) -> None:
    batches: list[list[str]] = []

    async def handle(request: web.Request) -> web.Response:
        texts = (await request.json())["input"]
        batches.append(texts)
        data = [{"index": i, "embedding": [float(len(text)), 1.0]} for i, text in enumerate(texts)]
        return web.json_response({"data": data[::-1], "usage": {"prompt_tokens": len(texts)}})

    config = OpenAIEmbedding(endpoint=_endpoint(await serve(handle)), dimension=2, batch=2)
    async with connect_embedder(config) as embedder:
        assert isinstance(embedder, OpenAIEmbedder)
        vectors = await embedder.embed(["", "a", "aa"])
        assert (await embedder.embed([])).shape == (0, 2)
        assert embedder.usage == Usage(prompt=3)
    assert batches == [["", "a"], ["aa"]]
    expected = np.array([[0, 1], [1, 1], [2, 1]]) / np.sqrt([[1], [2], [5]])
    np.testing.assert_allclose(vectors, expected, rtol=1e-6)
