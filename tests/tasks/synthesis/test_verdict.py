"""A judge's reply is a verdict only when it is nothing else."""

import pytest

from tasks.synthesis.schema_check import schema_errors
from tasks.synthesis.verdict import VERDICT_SCHEMA, Verdict, parse_verdict


@pytest.mark.parametrize(
    ("text", "digit"),
    [
        ('{"verdict": "1"}', 1),
        ('{"verdict":"2"}', 2),
        ('{"verdict": 2}', 2),
        ('```json\n{"verdict": "1"}\n```', 1),
        ('Version 1 is vague. {"verdict": "2"}', 2),
        ('{"reason": "1 is vague", "verdict": "2"}', 2),
        ("1", 1),
        (" 2.\n", 2),
        ('"2"', 2),
        ("**1**", 1),
        ("(2)", 2),
        ("Verdict: 2", 2),
        ("**Answer:** 1", 1),
        ("Text 2", 2),
        ("\ufeff1", 1),
    ],
)
def test_a_digit_by_itself_is_a_verdict(text: str, digit: int) -> None:
    preferred = {True: Verdict.CANDIDATE, False: Verdict.CURRENT}
    assert parse_verdict(text, candidate_first=True) is preferred[digit == 1]
    assert parse_verdict(text, candidate_first=False) is preferred[digit == 2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  \n",
        "Both 1 and 2 are good.",
        "1 and 2",
        "1 or 2",
        "12",
        "1.2",
        "-1",
        "3",
        "0",
        "one",
        "2 is worse.",
        "I prefer 2 because of its 1 detail.",
        "not 1",
        '{"verdict": "3"}',
        '{"verdict": "both"}',
        '{"verdict": "1 and 2"}',
        '{"verdict": ["1"]}',
        '{"verdict": null}',
        '{"verdict": true}',
        '{"verdict": "1", "verdict": "2"}',
        '{"verdict": "1"} {"verdict": "2"}',
        '{"answer": "1"}',
        '{"verdict": "1"',
        "I'm sorry, but I can't help with that.",
        "¹",
        "１",
    ],
)
@pytest.mark.parametrize("candidate_first", [True, False])
def test_anything_else_favours_neither_draft(text: str, candidate_first: bool) -> None:
    assert parse_verdict(text, candidate_first=candidate_first) is Verdict.UNPARSABLE


def test_the_schema_admits_the_two_verdicts_only() -> None:
    assert [digit for digit in ("0", "1", "2", "3") if not schema_errors({"verdict": digit}, VERDICT_SCHEMA)] == [
        "1",
        "2",
    ]
