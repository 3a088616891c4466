from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from infra.llm.completions import Completions, Continued, read_continued
from infra.llm.connect import Endpoint
from infra.llm.retry import TransientFailure
from infra.llm.types import RequestRejected

Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]


async def asked(url: str) -> Continued:
    async with Completions(Endpoint(model="m", base_url=url, max_wait_s=5), "key") as completions:
        return await completions.complete([5, 7], max_tokens=3, temperature=1.0, top_p=1.0, seed=9)


async def test_token_ids_go_out_and_come_back(serve: Serve) -> None:
    seen: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.path == "/v1/completions"
        assert request.headers["Authorization"] == "Bearer key"
        seen.append(await request.json())
        return web.json_response({"choices": [{"text": "ab", "token_ids": [3, 4]}]})

    assert await asked(await serve(answer)) == Continued("ab", (3, 4))
    (body,) = seen
    sent = ("prompt", "max_tokens", "temperature", "top_p", "seed")
    assert tuple(body[name] for name in sent) == ([5, 7], 3, 1.0, 1.0, 9)
    # Nothing that the server would add of its own accord.
    assert (body["top_k"], body["min_p"], body["repetition_penalty"]) == (-1, 0.0, 1.0)


async def test_a_failure_of_the_moment_is_tried_again_and_a_refusal_is_not(serve: Serve) -> None:
    refusal = {"error": {"message": "maximum context length is 8"}}
    answers = iter([(503, {"error": "busy"}), (200, {"choices": [{"text": "a"}]}), (400, refusal)])

    async def answer(request: web.Request) -> web.Response:
        status, body = next(answers)
        return web.json_response(body, status=status)

    url = await serve(answer)
    assert await asked(url) == Continued("a", None)
    with pytest.raises(RequestRejected, match="maximum context"):
        await asked(url)


@pytest.mark.parametrize(
    "body", [b"<html>", b"[]", b'{"choices": []}', b'{"choices": [{"text": "a", "token_ids": ["b"]}]}']
)
def test_what_is_no_text_is_asked_for_again(body: bytes) -> None:
    with pytest.raises(TransientFailure):
        read_continued(body, Endpoint(model="m", base_url="http://127.0.0.1/v1"))
