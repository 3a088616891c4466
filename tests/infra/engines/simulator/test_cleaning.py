"""The simulator asked to clean a text: it finds, copies, rewrites and asks as it is told, and touches nothing else."""

from random import Random
from typing import Any

import pytest

from infra.engines.simulator.prompt import read_prompt
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.schema import walker_of

LETTER = (
    "Ana Lima\n12 Mill Lane\n\nDear Mr Lima,\n\nOn 3 May 2019 Ana  Lima paid $240.00 at Porto. She is 5, I am 51;"
    " I like 3.5 apples.\n\nRegards,\nANA LIMA\n"
)
STRING = {"type": "string"}
NAME = "name: Ana Lima\n"


def asked(prompt: str, seed: int = 0, **properties: Any) -> Any:
    schema = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
    return walker_of(schema)(Scene(Random(seed), read_prompt([prompt]), "English"))


def quoted(*texts: str) -> str:
    return "".join(f"<text {number:02x}>\n{text}\n</text {number:02x}>\n" for number, text in enumerate(texts))


def listed(*items: str) -> str:
    return "".join(f"- {item}\n" for item in items)


def spans(facts: str, text: str = LETTER) -> list[str]:
    found: list[str] = asked(quoted(text) + facts, spans={"type": "array", "items": STRING, "maxItems": 9})["spans"]
    assert all(span in text for span in found)
    return found


def edit(orders: str, text: str = LETTER) -> str:
    written: str = asked(quoted(text) + orders, edited=STRING)["edited"]
    return written


def test_the_parts_that_tell_a_fact_are_named_by_their_numbers_and_no_others() -> None:
    number = {"type": "integer", "minimum": 1, "maximum": 3}
    for facts, parts in ((NAME, [1, 3]), ("city: Porto\n", [2]), ("sister: Marta\n", [])):
        prompt = quoted("Ana Lima\nCity: Rome", "in Porto", "ANA\nLIMA") + facts
        assert asked(prompt, parts={"type": "array", "items": number})["parts"] == parts


def test_stretches_are_copied_letter_by_letter_in_every_form_the_text_has() -> None:
    assert spans(NAME) == ["Ana Lima", "Mr Lima", "Ana  Lima", "ANA LIMA"]
    assert spans("name: Ana Lima\npaid: $240.00\n") == ["Ana Lima", "Mr Lima", "Ana  Lima", "$240.00", "ANA LIMA"]
    assert spans("sister: Marta\n") == []


def test_a_short_value_is_found_only_as_a_word_of_its_own() -> None:
    assert spans("age: 5\n") == ["5"]
    assert edit("Leave out:\n" + listed("5")) == LETTER.replace("is 5,", "is,")


def test_a_fact_that_only_the_text_states_is_not_asked_for() -> None:
    assert spans("mood: calm\n", "Name: Ana Lima\nshe: calm") == ["calm"]


def test_listed_phrases_are_put_in_the_words_that_are_said_by_their_kind() -> None:
    orders = 'Write "somebody" or "a certain party" and "some day".\n' + listed("Ana Lima", "3 May 2019", "Ana  Lima")
    assert edit(orders) == (
        "A certain party\n12 Mill Lane\n\nDear Mr Lima,\n\nOn some day a certain party paid $240.00 at Porto."
        " She is 5, I am 51; I like 3.5 apples.\n\nRegards,\nA certain party\n"
    )


def test_where_nothing_is_said_listed_phrases_are_left_out_with_the_small_words_before_them() -> None:
    assert edit("Leave out:\n" + listed("Ana Lima", "3 May 2019", "Porto", "Mr Lima")) == (
        "\n12 Mill Lane\n\nDear,\n\nSomebody paid $240.00. She is 5, I am 51; I like 3.5 apples.\n\nRegards,\n\n"
    )


@pytest.mark.parametrize(
    ("text", "phrase", "left"),
    [
        ("Contact: +31 555 0199, a@b.test", "+31 555 0199", "Contact: a@b.test"),
        ("The letter that Ana Lima sent.", "Ana Lima", "The letter that somebody sent."),
        ("At 9:45 all had left.", "9:45", "All had left."),
        ("one, two, three", "two", "one, three"),
        ("Ana Lima", "Ana Lima", "(left out)"),
    ],
)
def test_what_a_phrase_leaves_behind_is_mended(text: str, phrase: str, left: str) -> None:
    assert edit("Leave out:\n" + listed(phrase), text) == left


def test_general_words_are_given_for_every_kind_of_phrase_in_quotation_marks() -> None:
    prompt = quoted(LETTER) + "in these words:\n" + listed("3 May 2019", "$240.00", "4 May 2019")
    said = read_prompt([asked(prompt, instruction={**STRING, "minLength": 20, "maxLength": 500})["instruction"]]).said
    assert len(said) == 2
    assert any("day" in words for words in said)
    assert not any("2019" in words or "240" in words for words in said)


def test_a_request_names_all_that_is_to_be_done_in_about_the_length_asked_for() -> None:
    orders = listed(
        "Take out: patient name",
        'Put in general terms: places (that is: clinic city, address). How: Put "a town" wherever this stands.',
        "Take out: the bill",
        "Keep as it is: sister, medicine",
    )
    for words in (30, 60, 100):
        request = asked(f"This has to be done:\n{orders}\nWrite about {words} words.", instruction=STRING)[
            "instruction"
        ]
        for part in ("patient name", "places", "clinic city and address", "the bill", "sister, medicine"):
            assert part in request
        assert "a town" not in request
        assert 0.6 * words <= len(request.split()) <= max(words, 40)


def test_a_fact_is_rated_by_how_much_it_gives_away() -> None:
    degree = {"type": "integer", "minimum": 1, "maximum": 10}
    facts = "file_number: QX-55120\ncity: Porto\nname: Ana Lima\n"
    rated = asked(facts, file_number=degree, city=degree, name=degree)
    assert rated["file_number"] > rated["name"] > rated["city"]


def test_a_group_of_keys_is_called_after_what_they_are_about() -> None:
    keys = {"type": "array", "items": {"enum": ["amount_due", "monthly_cost_2"]}, "minItems": 2}
    assert asked("amount_due: $5\n", name=STRING, keys=keys)["name"] == "money"
