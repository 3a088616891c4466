"""Replies made usable, or refused with a reason that can be shown to the model."""

import pickle

import pytest

from infra.llm.types import FinishReason, Reply, ReplyUnusable, Usage
from tasks.synthesis.replies import check_complete, check_free_text, parse_json
from tasks.synthesis.unusable import ReplyCutOff, ReplyEmpty, ReplyInvalid, ReplyLeaked, ReplyRefused

AGE = {
    "type": "object",
    "properties": {"age": {"type": "integer"}},
    "required": ["age"],
    "additionalProperties": False,
}


def reply(text: str, finish_reason: FinishReason = "stop") -> Reply:
    return Reply(text, finish_reason, Usage(completion=7), "test-model")


@pytest.mark.parametrize(
    "text",
    [
        '{"age": 40}',
        'Here you are: {"age": 40}',
        '```json\n{"age": 40,}\n```',
        '{"years": 40} is wrong, it should be {"age": 40}',
        'The schema {"type": "object", "properties": {}} asks for [1, 2]: {"age": 40}',
    ],
)
def test_the_json_that_fits_is_returned(text: str) -> None:
    assert parse_json(text, AGE) == {"age": 40}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"age": "40"}', "`age`: expected integer, got string"),
        ('{"age": 40, "name": "Ana"}', '`reply`: unexpected "name"'),
        ('[{"age": 40}]', "`reply`: expected object, got array"),
        ('{"age": 40} {"age": 41}', "2 different JSON values that all fit"),
        ('[1] {"age": null}', "`age`: expected integer, got null"),
        ("forty", "no JSON found"),
        ('{"age": 40, "age": 41}', 'the key "age" is given twice'),
    ],
)
def test_json_is_never_bent_to_fit(text: str, complaint: str) -> None:
    with pytest.raises(ReplyInvalid) as caught:
        parse_json(text, AGE)
    assert complaint in str(caught.value)


def test_a_refusal_in_place_of_json_is_called_one() -> None:
    with pytest.raises(ReplyRefused):
        parse_json("I’m sorry, but I can’t help with that.", AGE)


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("Dear Ana,\r\nsee you\rsoon", "Dear Ana,\nsee you\nsoon"),
        ("\ufeff\n Dear\0 Ana \n", "Dear Ana"),
        ("```\nDear Ana\n```", "Dear Ana"),
        ("```text\nDear Ana\n\nBye\n```\n", "Dear Ana\n\nBye"),
        ("<text 0a1b2c3d>\nDear Ana\n</text 0a1b2c3d>", "Dear Ana"),
        ("Dear Ana\n</text 0a1b2c3d>\n", "Dear Ana"),
        ("Here is the letter:\n\nDear Ana", "Dear Ana"),
        ("Sure! Here's the revised version of your letter:\n\n```\nDear Ana\n```", "Dear Ana"),
        ("**Here is the document:**\n\nDear Ana", "Dear Ana"),
        ("Hier ist der Brief:\n\nLiebe Ana", "Liebe Ana"),
        ("以下是修改后的信:\n\n亲爱的", "亲爱的"),
        ("다음은 요청하신 편지입니다:\n\n안나에게", "안나에게"),
    ],
)
def test_wrapping_is_taken_off(text: str, clean: str) -> None:
    assert check_free_text(reply(text)) == clean


@pytest.mark.parametrize(
    "text",
    [
        "Here is the plan:\n\nwe leave at nine",
        "Here is the letter: it came today.\nIt says no.",
        "Here is the letter:",
        "Dear Ana,\n```\ncode\n```",
        "```\none\n```\nand\n```\ntwo\n```",
        "The letter that follows:\n\nDear Ana",
        "line one\n\n\n\nline two",
        "before\n<text 0a1b2c3d>\nDear Ana\n</text 0a1b2c3d>\nafter",
    ],
)
def test_what_may_belong_to_the_text_stays(text: str) -> None:
    assert check_free_text(reply(text)) == text


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", ReplyEmpty),
        (" \r\n\t\ufeff\0", ReplyEmpty),
        ("```\n```", ReplyEmpty),
        ("I can't help with that.", ReplyRefused),
        ("<think>Let me see", ReplyLeaked),
        ("I see.</think>Dear Ana", ReplyLeaked),
        ("<|channel|>final<|message|>Dear Ana", ReplyLeaked),
        ("Dear Ana<|im_end|>", ReplyLeaked),
        ("[INST] Write [/INST] Dear Ana", ReplyLeaked),
        ("Dear \ud83d Ana", ReplyInvalid),
    ],
)
def test_what_is_no_text_is_refused(text: str, error: type[ReplyUnusable]) -> None:
    with pytest.raises(error):
        check_free_text(reply(text))


def test_a_reply_cut_by_the_token_limit_has_a_reason_of_its_own() -> None:
    with pytest.raises(ReplyCutOff, match="cut off by the token limit after 7 tokens") as caught:
        check_complete(reply('{"age": 4', "length"))
    assert caught.value.reason == "cut_off"
    with pytest.raises(ReplyCutOff):
        check_free_text(reply("", "length"))


def test_a_filtered_reply_is_a_refusal() -> None:
    with pytest.raises(ReplyRefused, match="content filter"):
        check_complete(reply("Dear", "content_filter"))


def test_a_complete_reply_passes() -> None:
    check_complete(reply("x"))


@pytest.mark.parametrize("error", [ReplyCutOff, ReplyEmpty, ReplyInvalid, ReplyLeaked, ReplyRefused])
def test_an_error_travels_between_processes(error: type[ReplyUnusable]) -> None:
    copy = pickle.loads(pickle.dumps(error("what is wrong")))
    assert (type(copy), str(copy), copy.reason) == (error, "what is wrong", error.reason)
