"""What is read of a triplet and its record, and what is refused."""

from typing import Any

import pytest

from tasks.evaluation.baselines import BASELINES, MASK, baseline_text, masked
from tasks.evaluation.case import Case, EmptyValue, Fact
from tests.tasks.evaluation.script import TEXT, case


def triplet(*values: str, asked: bool = True, retained: str = "Porto") -> dict[str, Any]:
    edits = [{"chunk": 0}] if asked else []
    return {
        "record_id": "r-1",
        "index": 4,
        "language": "English",
        "text": TEXT,
        "instruction": "Hide it.",
        "sanitized": "x",
        "targets": [
            {"passes": [{"edits": [{"chunk": 0}]}], "attributes": [{"key": "name", "value": "Ana Lima"}]},
            {"passes": [{"edits": edits}], "attributes": [{"key": "k", "value": value} for value in values]},
        ],
        "retained": [{"key": "city", "value": retained}],
    }


RECORD = {
    "record_id": "r-1",
    "domain": None,
    "attributes": [{"key": "city", "value": "Porto", "source": "text", "spans": [{"start": 12, "end": 17}]}],
}


def test_facts_know_the_target_they_belong_to() -> None:
    found = Case.of_rows(triplet("40", "5"), RECORD)
    assert found.targets == (Fact("name", "Ana Lima", 0), Fact("k", "40", 1), Fact("k", "5", 1))
    assert found.retained == (Fact("city", "Porto"),)
    assert found.attributes[0].spans == ((12, 17),)


def test_a_target_that_the_request_does_not_ask_for_is_not_judged() -> None:
    assert Case.of_rows(triplet("40", asked=False), RECORD).targets == (Fact("name", "Ana Lima", 0),)


@pytest.mark.parametrize("value", ["", " ", "\n"])
def test_an_empty_value_is_an_error_and_not_a_leak(value: str) -> None:
    with pytest.raises(EmptyValue, match=r"r-1: attribute 'k' has an empty value"):
        Case.of_rows(triplet("40", value), RECORD)
    with pytest.raises(EmptyValue, match="'city'"):
        Case.of_rows(triplet(retained=value), RECORD)


@pytest.mark.parametrize(
    ("value", "short"), [("5", True), ("Al", True), (" Al ", True), ("Ada", False), ("진아", True)]
)
def test_values_of_one_or_two_characters_are_short(value: str, short: bool) -> None:
    assert Fact("k", value).short == short


def test_baselines_do_what_they_are_called() -> None:
    texts = {kind: baseline_text(kind, case()) for kind in BASELINES}
    assert texts["triplets"] == case().by_pipeline
    assert texts["untouched"] == TEXT
    assert texts["empty"] == ""
    assert texts["masked"] == f"{MASK} of {MASK}, aged 40, takes {MASK}. Her sister {MASK} drove. Paid: {MASK} euros."


def test_values_that_overlap_and_touch_are_masked_once_each_and_wholly() -> None:
    spans = {"full": (0, 8), "first": (0, 3), "last": (4, 8), "of": (8, 11)}
    attributes = tuple(case().attributes[0].__class__(key, key, "text", (span,)) for key, span in spans.items())
    assert masked(case(text="Ana Lima of Porto", attributes=attributes)) == f"{MASK}{MASK} Porto"


def test_a_value_within_another_uncovers_nothing_of_it() -> None:
    spans = {"full": (0, 17), "last": (4, 8)}
    attributes = tuple(case().attributes[0].__class__(key, key, "text", (span,)) for key, span in spans.items())
    assert masked(case(text="Ana Lima of Porto!", attributes=attributes)) == f"{MASK}!"


def test_what_only_the_second_pass_hid_was_asked_for_and_is_judged() -> None:
    row = triplet("Rui", asked=False)
    row["targets"][1]["passes"].append({"edits": [{"chunk": 0}]})
    assert [fact.value for fact in Case.of_rows(row, RECORD).targets] == ["Ana Lima", "Rui"]
