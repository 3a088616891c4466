"""The figures of PV Tables 4, 5, 6 and 10 on four records, worked out by hand."""

import json
from collections.abc import Sequence
from dataclasses import asdict

import pytest

from tasks.evaluation.figures import Agreement, Share, by_set, score, shares, table4
from tasks.evaluation.verdict import full_success, leaks
from tests.tasks.evaluation.rows import kept, row, target

ROWS = [
    # 2 of 2 safe, 1 of 1 kept: a full success
    row("a", [target("safe"), target("safe")], [kept("exact")]),
    # 1 of 4 safe, 1 of 2 kept
    row(
        "b",
        [
            target("safe"),
            target("direct", "name_2"),
            target("direct", "visits", "5"),
            target("inference", "employer"),
        ],
        [kept("guessed"), kept("lost")],
        domain="Business & Finance",
    ),
    # 0 of 1 safe, nothing to keep
    row("c", [target("proximity", closer="equal")], domain=None),
    # 1 of 2 safe, the other one unjudged; 1 of 1 kept
    row("d", [target("safe"), target("unjudged", reason="closer-1: invalid_reply")], [kept("present")]),
]  # fmt: skip


def test_table_4_by_hand() -> None:
    found = score(ROWS).table4
    assert found.attribute.value == pytest.approx(4 / 9)
    assert found.attribute_per_record.value == pytest.approx((1 + 1 / 4 + 0 + 1 / 2) / 4)
    assert found.record.value == 1 / 4
    assert found.kept_attribute.value == 3 / 4
    assert found.kept_per_record.value == pytest.approx((1 + 1 / 2 + 1) / 3)
    assert found.kept_record.value == pytest.approx(2 / 3)
    assert found.full_record.value == 1 / 4
    assert [found.attribute.of, found.record.of, found.kept_attribute.of, found.kept_record.of] == [9, 4, 4, 3]


def test_without_short_values_by_hand() -> None:
    found = score(ROWS)
    assert found.short == 1
    assert found.without_short.attribute.value == 4 / 8
    assert found.without_short.attribute_per_record.value == pytest.approx((1 + 1 / 3 + 0 + 1 / 2) / 4)
    assert found.without_short.kept_attribute.value == 3 / 4


def test_a_record_with_short_targets_only_takes_no_part_without_them() -> None:
    rows = [*ROWS, row("e", [target("direct", value="5")], [kept("exact")])]
    found = score(rows)
    assert (found.table4.record.value, found.table4.kept_record.of) == (1 / 5, 4)
    assert (found.without_short.record.value, found.without_short.kept_record.of) == (1 / 4, 3)


def test_tables_5_6_and_10_by_hand() -> None:
    found = score(ROWS)
    assert said(found.leak_types) == [("direct", 2, 0.5), ("inference", 1, 0.25), ("proximity", 1, 0.25)]
    assert said(found.domains) == [("Business & Finance", 1, 0.5), ("not labelled", 1, 0.5)]
    assert said(found.keys) == [("name", 2, 0.5), ("employer", 1, 0.25), ("visits", 1, 0.25)]
    assert found.retention == {"exact": 1, "guessed": 1, "lost": 1, "present": 1}


def said(found: Sequence[Share]) -> list[tuple[str, int, float]]:
    return [(each.name, each.count, each.share) for each in found]


def test_intervals_of_shares_are_over_records_drawn_whole() -> None:
    """Two records, each with leaks of one kind: a sample has the one, the other, or both."""
    found = shares([{"direct": 1}, {"proximity": 3}], 0, ("direct", "inference", "proximity"))
    assert [each.share for each in found] == [0.25, 0.0, 0.75]
    assert [(each.low, each.high) for each in found] == [(0, 1), (0, 0), (0, 1)]
    alone = shares([{"direct": 2, "proximity": 2}], 0)
    assert [(each.share, each.low, each.high) for each in alone] == [(0.5, 0.5, 0.5)] * 2
    assert shares([], 0) == ()
    assert shares([{}], 0, ("direct",)) == (Share("direct", 0, 0.0),)


def test_what_is_unjudged_is_neither_a_leak_nor_a_success() -> None:
    found = score(ROWS)
    assert (found.unjudged, found.undecided_records) == (1, 1)
    assert sum(each.count for each in found.leak_types) == 4
    assert not leaks(ROWS[3])
    assert [full_success(each) for each in ROWS] == [True, False, False, None]
    assert full_success(row("e", [target("unjudged"), target("direct")])) is False
    assert full_success(row("e", [target("safe")], [kept("unjudged")])) is None
    assert full_success(row("e", [target("unjudged")], [kept("lost")])) is False


def test_no_output_is_counted_and_is_neither() -> None:
    nothing = row("e", [target("no_output")], [kept("no_output")], sanitized=None, failure="refusal")
    found = score([*ROWS, nothing])
    assert found.no_output == {"refusal": 1}
    assert found.table4.full_record.value == 1 / 5
    assert found.table4.kept_attribute.value == 3 / 5
    assert full_success(nothing) is False
    assert not leaks(nothing)
    assert sum(each.count for each in found.leak_types) == 4


def test_evaluators_agree_where_both_say_leak_or_both_say_none() -> None:
    pairs = [("equal", "sanitized"), ("original", "original"), ("original", "equal"), ("sanitized", None)]
    targets = [target("safe", closer=one, second_closer=other) for one, other in pairs]
    found = score([row("a", targets, second_evaluator="other")])
    assert found.agreement == Agreement(pairs=3, agreed=2)
    assert score(ROWS).agreement is None


def test_sets_are_told_apart_by_the_splits() -> None:
    found = by_set(ROWS, {"a": "vanilla", "b": "hard", "c": "hard", "d": "test"})
    assert {name: scores.records for name, scores in found.items()} == {"all": 4, "vanilla": 1, "hard": 2}
    assert found["vanilla"].table4.full_record.value == 1
    assert by_set(ROWS, None).keys() == {"all"}


def test_no_rows_have_no_figures_and_all_figures_go_into_json() -> None:
    assert table4([], 0).full_record.value is None
    assert json.loads(json.dumps(asdict(score(ROWS)), allow_nan=False))["records"] == 4
