import asyncio

import orjson

from infra.engines.simulator.tokens import count_tokens
from tests.infra.engines.simulator.conftest import Serve


async def test_the_same_body_has_the_same_answer_whatever_went_before(serve: Serve) -> None:
    first, second, other = await serve(seed=5), await serve(seed=5), await serve(seed=6)
    await second.chat("Something else")
    answers = [await client.chat("Write a letter.") for client in (first, second, second, other)]
    assert answers[0] == answers[1] == answers[2] != answers[3]


async def test_usage_is_what_the_tokenizer_counts(serve: Serve) -> None:
    client = await serve()
    turns = [{"role": "system", "content": "You write letters."}, {"role": "user", "content": "Write one, please."}]
    body = orjson.dumps({"model": client.model, "messages": turns})
    _, _, answer = await client.post("v1/chat/completions", body)
    completion = count_tokens(answer["choices"][0]["message"]["content"])
    assert answer["usage"] == {
        "prompt_tokens": 9,
        "completion_tokens": completion,
        "total_tokens": 9 + completion,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 0},
    }
    statistics = await client.statistics()
    assert (statistics["prompt_tokens"], statistics["completion_tokens"]) == (9, completion)


async def test_the_token_limit_cuts_an_answer_and_says_so(serve: Serve) -> None:
    client = await serve()
    for answer in (
        await client.chat("Write a letter.", max_tokens=20),
        await client.chat("Write a letter.", max_completion_tokens=20),
    ):
        assert answer["choices"][0]["finish_reason"] == "length"
        assert answer["usage"]["completion_tokens"] == 20
    assert (await client.chat("Write a letter.", max_tokens=5000))["choices"][0]["finish_reason"] == "stop"


async def test_content_may_come_in_parts(serve: Serve) -> None:
    client = await serve()
    content = [{"type": "text", "text": "one "}, {"type": "text", "text": "two"}]
    body = orjson.dumps({"model": client.model, "messages": [{"role": "user", "content": content}]})
    _, _, answer = await client.post("v1/chat/completions", body)
    assert answer["usage"]["prompt_tokens"] == 2


async def test_any_json_object_can_be_asked_for(serve: Serve) -> None:
    client = await serve()
    assert isinstance(orjson.loads(await client.text("Hello", response_format={"type": "json_object"})), dict)


async def test_a_wrong_request_is_told_its_place_and_never_its_text(serve: Serve) -> None:
    client = await serve()
    for body, place in (
        (b"{", "body"),
        (orjson.dumps({"model": client.model, "messages": []}), "messages"),
        (client.body("secret", max_tokens=0), "max_tokens"),
        (client.body("secret", stream=True), "stream"),
        (client.body("secret", response_format={"type": "json_schema"}), "response_format"),
        (client.body("secret", schema={"not": {}}), "keyword not"),
    ):
        status, _, answer = await client.post("v1/chat/completions", body)
        assert (status, place in answer["error"]["message"]) == (400, True), answer
        assert "secret" not in str(answer)
    assert (await client.statistics())["answers"] == {"rejected": 6}


async def test_a_model_that_is_not_served_is_not_found(serve: Serve) -> None:
    client = await serve(model="small")
    client.model = "large"
    status, _, answer = await client.post("v1/chat/completions", client.body("Hello"))
    assert (status, answer["error"]["code"]) == (404, "model_not_found")


async def test_models_and_health_answer(serve: Serve) -> None:
    client = await serve(model="small")
    async with client.session.get(f"{client.origin}/v1/models") as response:
        assert [model["id"] for model in (await response.json())["data"]] == ["small"]
    async with client.session.get(f"{client.origin}/health") as response:
        assert response.status == 200


async def test_an_answer_takes_its_latency(serve: Serve) -> None:
    client = await serve(latency_ms=150)
    loop = asyncio.get_running_loop()
    started = loop.time()
    await asyncio.gather(*(client.chat(f"Hello {number}") for number in range(5)))
    assert loop.time() - started >= 0.15
    assert (await client.statistics())["peak"] == 5  # side by side, not one after the other
