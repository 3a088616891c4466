"""Complaints about JSON that a model can act on."""

import time

import pytest

from tasks.synthesis.schema_check import schema_errors

SCHEMA = {
    "type": "object",
    "properties": {
        "profile": {
            "type": "object",
            "properties": {"age": {"type": "integer", "minimum": 0, "maximum": 120}},
            "required": ["age"],
        },
        "sex": {"enum": ["Female", "Male"]},
        "code": {"type": "string", "pattern": "^[A-Z]{2}$", "minLength": 2, "maxLength": 2},
        "tags": {
            "type": "array",
            "items": {"type": ["string", "null"]},
            "minItems": 1,
            "maxItems": 2,
            "uniqueItems": True,
        },
        "kind": {"const": "letter"},
    },
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    ("value", "errors"),
    [
        ({"profile": {"age": 40}, "sex": "Male", "code": "AB", "tags": ["a", None], "kind": "letter"}, []),
        ({"profile": {"age": "40"}}, ["`profile.age`: expected integer, got string"]),
        ({"profile": {"age": True}}, ["`profile.age`: expected integer, got boolean"]),
        ({"profile": {"age": 40.5}}, ["`profile.age`: expected integer, got number"]),
        ({"profile": {"age": None}}, ["`profile.age`: expected integer, got null"]),
        ({"profile": {"age": -1}}, ["`profile.age`: expected 0 or more"]),
        ({"profile": {"age": 121}}, ["`profile.age`: expected 120 or less"]),
        ({"profile": {}}, ['`profile`: "age" is missing']),
        ({"sex": "female"}, ['`sex`: expected one of "Female", "Male", got another string']),
        (
            {"code": "abc"},
            ["`code`: expected at most 2 characters, got 3", "`code`: does not match the pattern ^[A-Z]{2}$"],
        ),
        ({"tags": []}, ["`tags`: expected at least 1 items, got 0"]),
        ({"tags": ["a", 7]}, ["`tags[1]`: expected null or string, got integer"]),
        ({"tags": ["a", "a"]}, ["`tags`: expected items that differ from each other"]),
        ({"kind": "form"}, ['`kind`: expected "letter"']),
        ({"name": 1, "zip": 2}, ['`reply`: unexpected "name", "zip"']),
        ([], ["`reply`: expected object, got array"]),
    ],
)
def test_each_departure_is_named_with_its_place(value: object, errors: list[str]) -> None:
    assert sorted(schema_errors(value, SCHEMA)) == sorted(errors)


def test_only_the_first_errors_are_listed() -> None:
    errors = schema_errors([1] * 9, {"type": "array", "items": {"type": "string"}})
    assert errors[0] == "`[0]`: expected string, got integer"
    assert errors[5:] == ["and 4 more"]


def test_long_option_lists_are_cut_short() -> None:
    [error] = schema_errors("x", {"enum": [f"option {number}" for number in range(50)]})
    assert error.endswith('"option 11" and 38 more, got another string')


def test_a_complaint_does_not_quote_the_value() -> None:
    secret = "4417-1234"
    assert not any(secret in error for error in schema_errors({"code": secret, "sex": secret}, SCHEMA))


def test_an_invalid_schema_is_an_error_of_ours() -> None:
    with pytest.raises(ValueError, match="strin"):
        schema_errors(1, {"type": "strin"})


def test_a_schema_of_its_own_for_each_record_is_cheap() -> None:
    schemas = [{**SCHEMA, "title": str(number)} for number in range(100)]
    started = time.process_time()
    for schema in schemas:
        schema_errors({"sex": "Male"}, schema)
    assert time.process_time() - started < 0.2  # 0.1 ms each; fastjsonschema takes 6
