import json
from typing import Any

import numpy as np
import pytest

from infra.llm.connect import Endpoint
from infra.llm.retry import TransientFailure
from infra.llm.types import BackendUnavailable, Message, Request, RequestRejected, Sampling, Usage
from infra.llm.wire import chat_body, encode, read_reply, read_vectors

PLAIN = Endpoint(model="m", api_key_env=None)
ASK = Request((Message("system", "Be brief."), Message("user", "Hi")), Sampling(0.5, 99, 0.9, 7, 1.1))


def _body(message: dict[str, Any] | None = None, **changes: Any) -> bytes:
    answer = {
        "model": "m-2026",
        "choices": [{"finish_reason": "stop", "message": message or {"role": "assistant", "content": "Hello."}}],
        "usage": {"prompt_tokens": 12, "completion_tokens": 3},
    }
    return json.dumps(answer | changes).encode()


def _read(body: bytes, *, wants_json: bool = False) -> Any:
    return read_reply(body, PLAIN, wants_json=wants_json, latency_s=0.5)


def test_a_request_carries_messages_and_sampling() -> None:
    assert chat_body(ASK, PLAIN) == {
        "model": "m",
        "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hi"}],
        "max_tokens": 99,
        "temperature": 0.5,
        "top_p": 0.9,
        "seed": 7,
    }


def test_tags_never_leave_the_house() -> None:
    tagged = Request(ASK.messages, tags={"record_id": "r-1"})
    assert b"r-1" not in encode(chat_body(tagged, PLAIN), "m")


def test_servers_get_only_the_fields_they_know() -> None:
    reasoning_model = Endpoint(
        model="o", sends_seed=False, sends_temperature=False, length_field="max_completion_tokens"
    )
    assert chat_body(ASK, reasoning_model).keys() == {"model", "messages", "max_completion_tokens"}
    llama = Endpoint(model="q", dialect="llama_cpp")
    assert chat_body(ASK, llama)["repeat_penalty"] == 1.1
    assert "repeat_penalty" not in chat_body(Request(ASK.messages), llama)


def test_a_schema_and_the_extra_body_are_sent() -> None:
    endpoint = Endpoint(model="q", extra_body={"chat_template_kwargs": {"enable_thinking": False}})
    body = chat_body(Request(ASK.messages, schema={"type": "object"}), endpoint)
    assert body["response_format"]["json_schema"]["schema"] == {"type": "object"}
    assert body["chat_template_kwargs"] == {"enable_thinking": False}


def test_a_lone_surrogate_is_the_rows_fault() -> None:
    with pytest.raises(RequestRejected, match="UTF-8"):
        encode({"content": "a\ud800b"}, "m")


def test_a_reply_is_read_with_its_usage() -> None:
    usage = {
        "prompt_tokens": 12,
        "completion_tokens": 30,
        "prompt_tokens_details": {"cached_tokens": 8},
        "completion_tokens_details": {"reasoning_tokens": 20},
    }
    reply = _read(_body(usage=usage))
    assert (reply.text, reply.finish_reason, reply.model, reply.latency_s) == ("Hello.", "stop", "m-2026", 0.5)
    assert reply.usage == Usage(prompt=12, cached=8, completion=30, reasoning=20)


@pytest.mark.parametrize("details", [None, {}, [], {"cached_tokens": None}])
def test_missing_details_of_usage_count_nothing(details: Any) -> None:
    usage = {"prompt_tokens": 12, "completion_tokens": 3, "prompt_tokens_details": details}
    assert _read(_body(usage=usage)).usage == Usage(prompt=12, completion=3)


@pytest.mark.parametrize(("said", "meant"), [("length", "length"), ("max_tokens", "length"), ("eos_token", "stop")])
def test_finish_reasons_are_translated(said: str, meant: str) -> None:
    assert _read(_body(choices=[{"finish_reason": said, "message": {"content": "x"}}])).finish_reason == meant


def test_an_empty_answer_is_a_reply_for_the_caller_to_judge() -> None:
    assert _read(_body({"content": ""})).text == ""
    assert _read(_body({"content": None})).text == ""


def test_reasoning_never_becomes_the_text() -> None:
    reply = _read(_body({"content": None, "reasoning_content": "I should write a letter."}))
    assert (reply.text, reply.reasoning) == ("", "I should write a letter.")


def test_json_filed_under_reasoning_is_the_answer_to_a_schema() -> None:
    message = {"content": None, "reasoning_content": '{"name": "Li"}'}
    assert _read(_body(message), wants_json=True).text == '{"name": "Li"}'
    assert _read(_body(message)).text == ""
    assert _read(_body({"content": None, "reasoning": "thinking"}), wants_json=True).text == ""


def test_a_refusal_field_is_a_filtered_answer() -> None:
    reply = _read(_body({"content": None, "refusal": "I can't help with that."}))
    assert (reply.text, reply.finish_reason) == ("I can't help with that.", "content_filter")


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (b"<html>busy</html>", "not_json"),
        (b'{"model": "m", "choi', "not_json"),
        (b"[]", "not_json"),
        (_body(choices=[]), "no_choices"),
        (_body(choices=None), "no_choices"),
        (_body(choices=[{}]), "unfinished"),
        (_body(choices=["x"]), "unfinished"),
        (_body(choices=[{"finish_reason": None, "message": {"content": "cut"}}]), "unfinished"),
        (_body(choices=[{"finish_reason": "abort", "message": {"content": "cut"}}]), "unfinished"),
        (_body(usage=None), "no_usage"),
        (_body(error={"message": "overloaded", "code": 503}), "error_in_200_503"),
        (_body(error={"message": "slow down", "type": "rate_limit_error"}), "error_in_200_429"),
        (_body(error="boom"), "error_in_200_500"),
    ],
)
def test_answers_with_nothing_usable_are_tried_again(body: bytes, kind: str) -> None:
    with pytest.raises(TransientFailure) as caught:
        _read(body)
    assert caught.value.kind == kind


def test_an_error_inside_200_may_blame_the_request() -> None:
    with pytest.raises(RequestRejected, match="HTTP 400: bad schema"):
        _read(_body(error={"message": "bad schema", "type": "invalid_request_error"}))


def _vectors(*rows: Any, order: list[int] | None = None) -> bytes:
    data = [{"index": i, "embedding": rows[i]} for i in order or range(len(rows))]
    return json.dumps({"data": data, "usage": {"prompt_tokens": 5, "total_tokens": 5}}).encode()


def test_vectors_are_ordered_by_index_and_made_unit() -> None:
    vectors, usage = read_vectors(_vectors([3, 4], [0, 2], order=[1, 0]), PLAIN, count=2, dimension=2)
    np.testing.assert_allclose(vectors, [[0.6, 0.8], [0, 1]], rtol=1e-6)
    assert vectors.dtype == np.float32
    assert usage == Usage(prompt=5)


@pytest.mark.parametrize(
    "body",
    [
        _vectors([1, 0]),
        _vectors([1, 0], [1, 0], [1, 0]),
        _vectors([1, 0], [0, 0]),
        _vectors([1, 0], [None, 1]),
        _vectors([1, 0], None),
        _vectors([1, 0], [1, 0], order=[1, 1]),
        b'{"data": null}',
    ],
)
def test_too_few_zero_or_broken_vectors_are_tried_again(body: bytes) -> None:
    with pytest.raises(TransientFailure):
        read_vectors(body, PLAIN, count=2, dimension=2)


def test_another_dimension_is_a_fault_of_the_configuration() -> None:
    with pytest.raises(BackendUnavailable, match="dimension 3, configured: 2"):
        read_vectors(_vectors([1, 0, 0], [1, 0, 0]), PLAIN, count=2, dimension=2)
