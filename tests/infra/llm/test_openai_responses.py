import pickle
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from infra.llm.connect import Endpoint
from infra.llm.openai_responses import WebSearchModel
from infra.llm.types import BackendGone, Message, SearchUnusable, Usage

Serve = Callable[[Callable[[web.Request], Awaitable[web.StreamResponse]]], Awaitable[str]]
ASK = (Message("system", "Search."), Message("user", "Who?"))
SCHEMA = {"type": "object"}


def response(*output: dict[str, Any], status: str = "completed", **more: Any) -> web.Response:
    usage = {
        "input_tokens": 900,
        "input_tokens_details": {"cached_tokens": 100},
        "output_tokens": 50,
        "output_tokens_details": {"reasoning_tokens": 20},
    }
    return web.json_response({"status": status, "error": None, "output": output, "usage": usage} | more)


def message(text: str, *urls: str, kind: str = "output_text") -> dict[str, Any]:
    notes = [{"type": "url_citation", "url": url} for url in urls]
    return {"type": "message", "content": [{"type": kind, "text": text, "annotations": notes}]}


SEARCH = {"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "x"}}


def model_at(base_url: str) -> WebSearchModel:
    return WebSearchModel(Endpoint(model="m", base_url=base_url, api_key_env=None, max_attempts=2))


async def test_a_search_is_asked_for_and_its_answer_read(serve: Serve) -> None:
    bodies: list[Any] = []

    async def handle(request: web.Request) -> web.Response:
        assert request.path == "/v1/responses"
        bodies.append(await request.json())
        return response(SEARCH, SEARCH, message('{"a": 1}', "https://x.test/1", "https://x.test/2", "https://x.test/1"))

    async with model_at(await serve(handle)) as model:
        found = await model.search(ASK, SCHEMA)
    assert found.text == '{"a": 1}'
    assert found.usage == Usage(900, 100, 50, 20)
    assert found.searches == 2
    assert found.sources == ("https://x.test/1", "https://x.test/2")
    (body,) = bodies
    assert body["tools"] == [{"type": "web_search"}]
    assert body["text"]["format"]["schema"] == SCHEMA
    assert [turn["role"] for turn in body["input"]] == ["system", "user"]
    assert body["store"] is False


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (lambda: response(message("I will not", kind="refusal")), "refused"),
        (
            lambda: response(SEARCH, status="incomplete", incomplete_details={"reason": "max_output_tokens"}),
            "cut off before the answer: max_output_tokens",
        ),
    ],
)
async def test_no_answer_is_said_to_be_none(serve: Serve, answer: Callable[[], web.Response], said: str) -> None:
    async def handle(_: web.Request) -> web.Response:
        return answer()

    async with model_at(await serve(handle)) as model:
        with pytest.raises(SearchUnusable, match=said) as raised:
            await model.search(ASK, SCHEMA)
    assert raised.value.searched.usage.prompt > 0  # it is paid for
    assert pickle.loads(pickle.dumps(raised.value)).searched == raised.value.searched


async def test_a_failed_response_is_tried_again(serve: Serve) -> None:
    answers = [response(status="failed"), response(SEARCH, message("{}"))]

    async def handle(_: web.Request) -> web.Response:
        return answers.pop(0)

    async with model_at(await serve(handle)) as model:
        assert (await model.search(ASK, SCHEMA)).text == "{}"


async def test_a_model_without_the_tool_is_a_fault_of_configuration(serve: Serve) -> None:
    async def handle(_: web.Request) -> web.Response:
        error = {"message": "Hosted tool 'web_search' is not supported with m.", "code": "unsupported_value"}
        return web.json_response({"error": error}, status=400)

    async with model_at(await serve(handle)) as model:
        with pytest.raises(BackendGone, match="does not take"):
            await model.search(ASK, SCHEMA)
