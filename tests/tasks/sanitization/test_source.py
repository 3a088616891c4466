"""What is read of a record's row: attributes that stand in the text, and groups of them."""

import pytest

from tasks.sanitization.source import Source
from tasks.synthesis.grounding import find_spans


def test_attributes_that_do_not_stand_in_the_text_are_left_out_and_groups_shrink() -> None:
    def attribute(key: str, *, grounded: bool) -> dict[str, object]:
        spans = [{"start": 0, "end": 3}] if grounded else []
        return {"key": key, "value": "Ana", "source": "text", "grounded": grounded, "spans": spans}

    row = {
        "record_id": "r-1",
        "index": 4,
        "language": "English",
        "text": "Ana",
        "attributes": [attribute("a", grounded=True), attribute("b", grounded=False), attribute("c", grounded=True)],
        "groups": [{"name": "both", "keys": ["a", "b", "c"]}, {"name": "one", "keys": ["a", "b"]}],
    }
    read = Source.of_row(row)
    assert [each.key for each in read.attributes] == ["a", "c"]
    assert read.attributes[0].spans == ((0, 3),)
    assert [(group.name, group.keys) for group in read.groups] == [("both", ("a", "c"))]


def read(text: str, value: str) -> Source:
    spans = [{"start": start, "end": end} for start, end in find_spans(text, value)]
    each = {"key": "key", "value": value, "source": "text", "grounded": bool(spans), "spans": spans}
    return Source.of_row(
        {"record_id": "r-1", "index": 4, "language": "x", "text": text, "attributes": [each], "groups": []}
    )


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("She has 2 children.", "2"),
        ("Al said so, and Al left.", "Al"),
        ("Size M, please.", "M"),
        ("2020: 42 of 420.", "42"),
        ("李明来了，李明走了。", "李明"),
        ("Bill 100, then again: bill 100", "100"),
    ],
)
def test_a_short_value_that_can_stand_for_nothing_else_takes_part(text: str, value: str) -> None:
    assert [each.value for each in read(text, value).attributes] == [value]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1. She has 1 child.\n2. She left.", "1"),
        ("Notes\n  (2) She left.", "2"),
        ("At 9 she came, and 9 of us left.", "9"),
        ("I live in Gary, IN since May.", "IN"),
        ("A dog and a B: grade A.", "A"),
    ],
)
def test_a_short_value_whose_places_may_say_something_else_is_left_out(text: str, value: str) -> None:
    assert find_spans(text, value)
    assert read(text, value).attributes == ()
