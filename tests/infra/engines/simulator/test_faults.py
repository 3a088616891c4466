import json
from random import Random
from typing import Any

import aiohttp
import jsonschema
import pytest

from infra.engines.simulator.config import FAULTS, TRANSPORT_FAULTS, SimulatorConfig
from infra.engines.simulator.faults import Asked, FaultPlan, body_key
from infra.engines.simulator.spoil import REFUSALS, spoil
from infra.engines.simulator.tokens import count_tokens
from tests.infra.engines.simulator.conftest import Client, Serve

SCHEMA = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name", "age"],
    "additionalProperties": False,
}


async def faulty(serve: Serve, fault: str) -> Client:
    return await serve(fault_rate=1, faults=(fault,))


@pytest.mark.parametrize(
    ("fault", "status", "retry_after"),
    [
        ("rate_limited", 429, "1"),
        ("rate_limited_bare", 429, None),
        ("server_error", 500, None),
        ("unavailable", 503, None),
        ("error_in_200", 200, None),
    ],
)
async def test_an_error_object_comes_with_its_status(
    serve: Serve, fault: str, status: int, retry_after: str | None
) -> None:
    client = await faulty(serve, fault)
    got, headers, answer = await client.post("v1/chat/completions", client.body("Hello"))
    assert (got, headers.get("Retry-After")) == (status, retry_after)
    assert answer.keys() == {"error"}
    assert (await client.statistics())["answers"] == {fault: 1}


async def test_a_hanging_call_ends_with_the_patience_of_its_client(serve: Serve) -> None:
    client = await faulty(serve, "hang")
    with pytest.raises(TimeoutError):
        await client.session.post(
            f"{client.origin}/v1/chat/completions",
            data=client.body("Hello"),
            timeout=aiohttp.ClientTimeout(total=0.2),
        )
    statistics = await client.statistics()
    assert (statistics["answers"], statistics["waiting"], statistics["abandoned"]) == ({"hang": 1}, 0, 0)


async def test_a_reset_comes_before_the_answer_or_in_the_middle_of_it(serve: Serve) -> None:
    client = await faulty(serve, "reset")
    seen = set()
    for number in range(20):
        with pytest.raises(
            (aiohttp.ClientPayloadError, aiohttp.ClientOSError, aiohttp.ServerDisconnectedError)
        ) as error:
            await client.chat(f"Hello {number}")
        seen.add("middle" if error.type is aiohttp.ClientPayloadError else "before")
    assert seen == {"middle", "before"}
    assert (await client.statistics())["answers"] == {"reset": 20}


async def test_a_truncated_answer_is_a_beginning_of_the_good_one(serve: Serve) -> None:
    good, choice = await (await serve()).text("Hello"), (await (await faulty(serve, "truncated")).chat("Hello"))
    cut = choice["choices"][0]
    assert cut["finish_reason"] == "length"
    assert good.startswith(cut["message"]["content"])
    assert 0.25 * len(good) < len(cut["message"]["content"]) < 0.85 * len(good)
    assert choice["usage"]["completion_tokens"] == count_tokens(cut["message"]["content"])


async def test_an_empty_answer_is_an_empty_string(serve: Serve) -> None:
    answer = await (await faulty(serve, "empty")).chat("Hello")
    assert answer["choices"][0]["message"]["content"] == ""
    assert answer["choices"][0]["finish_reason"] == "stop"
    assert answer["usage"]["completion_tokens"] == 0


async def test_a_spoiled_answer_is_counted_under_its_fault(serve: Serve) -> None:
    client = await faulty(serve, "empty")
    await client.chat("Hello")
    statistics = await client.statistics()
    assert (statistics["answers"], statistics["prompt_tokens"]) == ({"empty": 1}, 1)


async def test_null_content_leaves_the_text_in_the_reasoning(serve: Serve) -> None:
    good = await (await serve()).text("Hello")
    answer = await (await faulty(serve, "null_content")).chat("Hello")
    message = answer["choices"][0]["message"]
    assert (message["content"], message["reasoning_content"]) == (None, good)
    tokens = count_tokens(good)
    assert answer["usage"]["completion_tokens"] == tokens
    assert answer["usage"]["completion_tokens_details"]["reasoning_tokens"] == tokens


async def test_refusals_have_many_phrasings(serve: Serve) -> None:
    client = await faulty(serve, "refusal")
    seen = {await client.text(f"Hello {number}") for number in range(100)}
    assert seen <= set(REFUSALS)
    assert len(seen) > len(REFUSALS) // 2
    assert any("’" in refusal for refusal in REFUSALS)


async def test_thoughts_stand_before_the_answer_with_their_tags(serve: Serve) -> None:
    good = await (await serve()).text("Hello")
    whole, unopened, unclosed = [
        await (await faulty(serve, fault)).text("Hello") for fault in ("think", "think_unopened", "think_unclosed")
    ]
    assert whole.startswith("<think>\n")
    assert whole.endswith(f"\n</think>\n\n{good}")
    assert unopened.endswith(f"\n</think>\n\n{good}")
    assert "<think>" not in unopened
    assert unclosed.startswith("<think>\n")
    assert "</think>" not in unclosed


async def test_another_language_comes_than_the_one_asked_for(serve: Serve) -> None:
    client = await faulty(serve, "wrong_language")
    korean, english = await client.text("Write in Korean."), await client.text("Write in English.")
    assert korean.isascii() or "Dear" in korean or " the " in korean
    assert " the " not in english


async def test_json_faults_spoil_json_as_they_are_named(serve: Serve) -> None:
    invalid, fenced, wrong, comma = [
        [await client.text(f"Invent {number}", SCHEMA) for number in range(30)]
        for client in [
            await faulty(serve, fault) for fault in ("invalid_json", "fenced_json", "wrong_schema", "trailing_comma")
        ]
    ]
    for text in (*invalid, *comma):
        with pytest.raises(json.JSONDecodeError):
            json.loads(text)
    for text in comma:
        jsonschema.validate(json.loads(text.replace(",}", "}")), SCHEMA)
    for text in fenced:
        before, body = text.split("\n\n```json\n")
        assert before
        jsonschema.validate(json.loads(body.removesuffix("\n```")), SCHEMA)
    validator = jsonschema.Draft202012Validator(SCHEMA)
    assert not any(validator.is_valid(json.loads(text)) for text in wrong)
    assert len({tuple(json.loads(text)) if text.startswith("{") else () for text in wrong}) > 2


@pytest.mark.parametrize("value", ["[]", "{}", "[1,2]", '{"a":1}', "7", "true", '"word"'])
def test_every_json_value_can_be_broken(value: str) -> None:
    for fault in ("invalid_json", "trailing_comma"):
        for seed in range(8):
            broken = spoil(fault, value, Random(seed), {}).text
            with pytest.raises(json.JSONDecodeError):
                json.loads(broken or "")


def test_a_wrong_shape_is_wrong_for_an_open_schema_too() -> None:
    for seed in range(8):
        assert json.loads(spoil("wrong_schema", '{"a":1}', Random(seed), {"type": "object"}).text or "") == [{"a": 1}]


def test_faults_apply_only_where_they_make_sense() -> None:
    plan = FaultPlan(SimulatorConfig(fault_rate=1))
    kinds: tuple[Asked, ...] = ("text", "json", "vectors")
    drawn: dict[str, set[Any]] = {
        asked: {plan.draw(asked, body_key(b"%d" % number), 0)[0] for number in range(2000)} for asked in kinds
    }
    json_only = {"invalid_json", "fenced_json", "wrong_schema", "trailing_comma"}
    assert drawn["vectors"] == set(TRANSPORT_FAULTS)
    assert drawn["text"] == set(FAULTS) - json_only
    assert drawn["json"] == set(FAULTS) - {"wrong_language"}


def test_faults_come_as_often_as_asked_and_equally() -> None:
    plan = FaultPlan(SimulatorConfig(fault_rate=0.2, faults=("hang", "empty")))
    drawn = [plan.draw("text", number, 0)[0] for number in range(4000)]
    assert abs(drawn.count("hang") / 4000 - 0.1) < 0.015  # three standard deviations
    assert abs(drawn.count("empty") / 4000 - 0.1) < 0.015


def test_a_retry_of_the_same_body_draws_anew() -> None:
    plan = FaultPlan(SimulatorConfig(fault_rate=0.5, faults=("empty",)))
    draws = [[plan.draw("text", key, attempt)[0] for attempt in range(20)] for key in range(5)]
    assert all(None in attempts and "empty" in attempts for attempts in draws)
    assert len(set(map(tuple, draws))) == 5


async def test_a_storm_can_begin_and_end_while_the_server_runs(serve: Serve) -> None:
    client = await serve()

    async def status() -> int:
        return (await client.post("v1/chat/completions", client.body("Hello")))[0]

    assert await status() == 200
    await client.post("control/faults", b'{"fault_rate": 1, "faults": ["key_revoked"]}')
    assert await status() == 401
    await client.post("control/faults", b'{"fault_rate": 1, "faults": ["model_gone"]}')
    assert await status() == 404
    await client.post("control/faults", b'{"fault_rate": 0}')
    assert await status() == 200
    assert (await client.post("control/faults", b'{"fault_rate": 2}'))[0] == 400
