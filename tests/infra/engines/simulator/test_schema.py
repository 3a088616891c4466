from random import Random
from typing import Any

import jsonschema
import pytest
from pydantic import BaseModel, Field

from infra.engines.simulator.prompt import read_prompt
from infra.engines.simulator.scalars import UnsupportedSchema
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.schema import walker_of


class Child(BaseModel):
    name: str
    children: list["Child"]


class Order(BaseModel):
    order_id: int = Field(gt=0, lt=100, multiple_of=5)
    note: str | None = None
    tags: dict[str, str]
    weight: float = Field(gt=0, le=2.5)


def closed(**properties: Any) -> dict[str, Any]:
    """Return the schema of an object in which every property is required."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


STRING = {"type": "string"}
SCHEMAS: dict[str, Any] = {
    "profile": closed(first_name=STRING, age={"type": "integer", "minimum": 18, "maximum": 99}, email=STRING),
    "list": closed(items={"type": "array", "items": {**STRING, "minLength": 40, "maxLength": 90}, "minItems": 10}),
    "pairs": closed(
        facts={"type": "array", "maxItems": 40, "items": closed(key={**STRING, "pattern": "^[a-z_]+$"}, value=STRING)}
    ),
    "verdict": closed(verdict={"enum": ["1", "2"]}, reason={**STRING, "maxLength": 12}),
    "unique": closed(
        keys={"type": "array", "items": {"enum": ["a", "b", "c"]}, "uniqueItems": True, "minItems": 3, "maxItems": 9}
    ),
    "numbers": closed(
        a={"type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1},
        b={"type": "integer", "multipleOf": 7, "minimum": 15},
        c={"type": "integer", "exclusiveMinimum": 4, "maximum": 5},
        d={"type": "number", "maximum": -2},
        e={"type": ["integer", "null"]},
    ),
    "constants": closed(kind={"const": "letter"}, flag={"type": "boolean"}, nothing={"type": "null"}),
    "alternatives": closed(value={"anyOf": [{"type": "integer"}, {"type": "null"}, closed(x=STRING)]}),
    "formats": closed(
        on={"type": "string", "format": "date"},
        at={"type": "string", "format": "date-time"},
        to={"type": "string", "format": "email"},
        id={"type": "string", "format": "uuid"},
    ),
    "patterns": closed(
        passport_number={**STRING, "pattern": "^[A-Z]{2}[0-9]{7}$"},
        date={**STRING, "pattern": r"^\d{4}-\d{2}-\d{2}$"},
        code={**STRING, "pattern": "^[0-9]+$", "minLength": 12, "maxLength": 14},
    ),
    "map": {"type": "object", "additionalProperties": {"type": "integer"}, "minProperties": 3},
    "tuple": {"prefixItems": [STRING, {"type": "integer"}], "items": False, "minItems": 2},
    "all": {"allOf": [closed(a=STRING), {"type": "object", "properties": {"b": STRING}, "required": ["b"]}]},
    "anything": {},
    "recursive": Child.model_json_schema(),
    "of pydantic": Order.model_json_schema(),
}
SCHEMAS["all"]["allOf"][0].pop("additionalProperties")  # it would forbid b
PROMPTS = (
    "Invent a person.",
    "name: Ada Berg\nage: 7\n\nGo.",
    "<text ab12>\nOn 3 May 2014 Ada Berg paid $12.50.\n</text ab12>",
)


def write(schema: Any, prompt: str = "", seed: int = 0) -> Any:
    return walker_of(schema)(Scene(Random(seed), read_prompt([prompt]), "English"))


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS)
def test_values_are_valid_under_their_schema(schema: Any) -> None:
    validator = jsonschema.Draft202012Validator(schema, format_checker=jsonschema.FormatChecker())
    for seed in range(25):
        for prompt in PROMPTS:
            validator.validate(write(schema, prompt, seed))


def test_values_differ_with_the_seed() -> None:
    schema = closed(name=STRING, city=STRING, policy_number=STRING)
    written = [write(schema, seed=seed) for seed in range(1000)]
    assert all(len({value[key] for value in written}) > 500 for key in schema["properties"])


def test_a_property_that_the_prompt_names_gets_the_prompt_s_value() -> None:
    value = write(closed(first_name=STRING, blood_type=STRING), "first name: Onyah\nblood_type: O+")
    assert value == {"first_name": "Onyah", "blood_type": "O+"}


def test_the_properties_of_one_person_agree() -> None:
    value = write(closed(first_name=STRING, last_name=STRING, email=STRING), "first name: Onyah")
    assert value["email"].startswith("onyah")
    assert value["last_name"].lower() in value["email"]


def test_values_of_key_value_lists_stand_in_the_quoted_text() -> None:
    text = "Sir,\n\nCristina Vogel owes you $1,250.00 since 4 March 2019; write to c.vogel@hill.test."
    facts = write(SCHEMAS["pairs"], f"<text 0a>\n{text}\n</text 0a>\nname: Somebody Else")["facts"]
    assert {"Cristina Vogel", "$1,250.00", "4 March 2019", "c.vogel@hill.test"} >= {fact["value"] for fact in facts}
    assert len(facts) == len({fact["key"] for fact in facts}) >= 3


def test_a_text_without_telling_phrases_still_grounds_the_least_number() -> None:
    schema = closed(facts={"type": "array", "minItems": 3, "items": closed(key=STRING, value=STRING)})
    facts = write(schema, "<text 0a>\n어머니는 혼자 살고 계십니다\n</text 0a>")["facts"]
    assert {fact["value"] for fact in facts} < {"어머니는", "혼자", "살고", "계십니다"}


@pytest.mark.parametrize(
    ("schema", "complaint"),
    [
        (closed(a={"not": STRING}), "a: keyword not is not supported"),
        (closed(a={**STRING, "pattern": "(?=x)"}), r"a: pattern '\(\?=x\)'"),
        (closed(a={"type": "integer", "minimum": 3, "maximum": 2}), "a: no multiple of 1 is from 3 to 2"),
        (closed(a={"type": "number", "exclusiveMinimum": 1, "maximum": 1}), "a: no number is from"),
        (closed(a={"type": "text"}), "a: type 'text' is not one of JSON's"),
        (closed(a={"$ref": "#/$defs/none"}), "'#/\\$defs/none' leads nowhere"),
        (
            closed(a={"type": "array", "items": {"enum": [1, 2]}, "uniqueItems": True, "minItems": 3}),
            "a: found only 2 of 3",
        ),
    ],
)
def test_a_schema_that_cannot_be_followed_is_refused_with_the_place(schema: Any, complaint: str) -> None:
    with pytest.raises(UnsupportedSchema, match=complaint):
        write(schema)
