import re

import pytest

from infra.llm.dialect import Dialect, constraint, penalty
from infra.llm.types import Message, Request, Sampling

ASK = (Message("user", "Write."),)
SCHEMA = {"type": "object", "properties": {"a": {"type": "string"}}}


def test_a_schema_is_a_response_format_everywhere_but_in_llama_cpp() -> None:
    request = Request(ASK, schema=SCHEMA)
    for dialect in ("openai", "vllm"):
        assert constraint(request, dialect)["response_format"]["json_schema"]["schema"] == SCHEMA
    assert constraint(request, "llama_cpp")["grammar"].startswith('%llguidance {}\nstart: %json {"type":"object"')


def test_json_from_llama_cpp_has_no_room_for_endless_white_space() -> None:
    assert '"whitespace_flexible":false' in constraint(Request(ASK, schema=SCHEMA), "llama_cpp")["grammar"]


def test_forbidden_characters_are_left_out_of_free_text_where_the_server_can_see_to_that() -> None:
    request = Request(ASK, Sampling(forbidden_characters=r"[]\^-<"))
    pattern = constraint(request, "vllm")["structured_outputs"]["regex"]
    assert re.fullmatch(pattern, "Dear Ada,\nyours")
    for forbidden in r"[]\^-<":
        assert re.fullmatch(pattern, f"a{forbidden}b") is None
    assert constraint(request, "llama_cpp") == {"grammar": f"%llguidance {{}}\nstart: /{pattern}/"}
    assert constraint(request, "openai") == {}


def test_a_class_escapes_nothing_that_llama_cpp_does_not_know() -> None:
    request = Request(ASK, Sampling(forbidden_characters="[]<>{}"))
    assert constraint(request, "llama_cpp")["grammar"].endswith(r"start: /[^\[\]<>{}]+/")


def test_json_is_not_kept_from_its_brackets() -> None:
    request = Request(ASK, Sampling(forbidden_characters="[]"), SCHEMA)
    assert "structured_outputs" not in constraint(request, "vllm")


@pytest.mark.parametrize(
    ("dialect", "fields"),
    [("llama_cpp", {"repeat_penalty": 1.1}), ("vllm", {"repetition_penalty": 1.1}), ("openai", {})],
)
def test_each_server_has_its_own_name_for_the_penalty(dialect: Dialect, fields: dict[str, float]) -> None:
    assert penalty(1.1, dialect) == fields
