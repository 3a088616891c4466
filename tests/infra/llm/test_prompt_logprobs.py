from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import numpy as np
import pytest
from aiohttp import web

from infra.llm.connect import Endpoint
from infra.llm.prompt_logprobs import PromptLogprobs, read_nll
from infra.llm.retry import TransientFailure
from infra.llm.types import BackendUnavailable, RequestRejected

Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
ENTRIES = [None, {"7": {"logprob": -0.5, "rank": 1}}, {"9": {"logprob": -0.1, "rank": 1}, "3": {"logprob": -4.25}}]


def client(url: str | None, **fields: Any) -> PromptLogprobs:
    return PromptLogprobs(Endpoint(model="m", base_url=url, max_wait_s=5, **fields), "key")


def reply(entries: object) -> Mapping[str, object]:
    return {"choices": [{"text": "x", "prompt_logprobs": entries}]}


async def test_token_ids_are_sent_and_their_nll_comes_back(serve: Serve) -> None:
    seen: list[dict[str, Any]] = []

    async def answer(request: web.Request) -> web.Response:
        assert request.path == "/v1/completions"
        assert request.headers["Authorization"] == "Bearer key"
        seen.append(await request.json())
        return web.json_response(reply(ENTRIES))

    async with client(await serve(answer), extra_body={"priority": 1}) as logprobs:
        nll = await logprobs.nll([5, 7, 3])
    np.testing.assert_array_equal(nll, np.array([np.nan, 0.5, 4.25], dtype=np.float32))
    (body,) = seen
    assert (body["prompt"], body["max_tokens"], body["prompt_logprobs"], body["priority"]) == ([5, 7, 3], 1, 1, 1)


async def test_a_failure_of_the_moment_is_tried_again(serve: Serve) -> None:
    answers = iter([503, 200])

    async def answer(request: web.Request) -> web.Response:
        status = next(answers)
        return web.json_response(reply(ENTRIES) if status == 200 else {"error": "busy"}, status=status)

    async with client(await serve(answer)) as logprobs:
        assert (await logprobs.nll([5, 7, 3]))[2] == 4.25


@pytest.mark.parametrize(
    ("status", "body", "error", "message"),
    [
        (400, {"error": {"message": "maximum context length is 8"}}, RequestRejected, r"maximum context"),
        (200, {"choices": [{"text": "x"}]}, BackendUnavailable, r"without prompt_logprobs"),
    ],
)
async def test_what_cannot_work_is_not_repeated(
    serve: Serve, status: int, body: Mapping[str, object], error: type[Exception], message: str
) -> None:
    calls = 0

    async def answer(request: web.Request) -> web.Response:
        nonlocal calls
        calls += 1
        return web.json_response(body, status=status)

    async with client(await serve(answer)) as logprobs:
        with pytest.raises(error, match=message):
            await logprobs.nll([5, 7, 3])
    assert calls == 1


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"[]",
        b'{"choices": [{"prompt_logprobs": [null]}]}',
        b'{"choices": [{"prompt_logprobs": [null, {"8": {"logprob": -1}}, {"3": {"logprob": -1}}]}]}',
        b'{"choices": [{"prompt_logprobs": [null, {"7": {"logprob": null}}, {"3": {"logprob": -1}}]}]}',
    ],
)
def test_what_is_no_score_for_each_token_is_asked_for_again(body: bytes) -> None:
    with pytest.raises(TransientFailure):
        read_nll(body, [5, 7, 3], Endpoint(model="m", base_url="http://127.0.0.1/v1"))


def test_a_server_needs_an_address() -> None:
    with pytest.raises(BackendUnavailable, match=r"set base_url"):
        client(None)
