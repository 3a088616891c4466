"""The page: hostile text stays text, every failure is on it, the paper's rows stand beside ours."""

import io
from dataclasses import fields
from typing import Any

import pytest
from rich.console import Console

from tasks.evaluation.figures import Table4, by_set
from tasks.evaluation.report.page import evaluation_page
from tasks.evaluation.report.paper import PAPER
from tasks.evaluation.report.tables import HEADINGS, table4, table5, table6, table10
from tasks.evaluation.report.terminal import render_scores
from tasks.evaluation.report.view import EvaluationView, failed_records
from tests.tasks.evaluation.rows import kept, row, target
from tests.tasks.report.test_page import HOSTILE, Page

SPLITS = {"a": "vanilla", "b": "hard", "c": "vanilla"}
ROWS = [
    row("a", [target("safe")], [kept("exact")]),
    row(
        "b",
        [
            target("direct", value="Ana Lima"),
            target("proximity", "city", "Porto", guess="a city", original_guess="Porto", closer="equal"),
            target("unjudged", "age", "40", reason="closer-2: invalid_reply"),
        ],
        [kept("lost", "sister", "Marta", guess="a sister")],
        sanitized="By Ana Lima and Ana Lima.",
    ),
    row("c", [target("no_output")], sanitized=None, failure="refusal"),
]


def view(rows: list[dict[str, Any]] = ROWS, **changes: Any) -> EvaluationView:
    facts: dict[str, Any] = {
        "name": "triplets-by-judge",
        "dataset": "tiny",
        "sanitizer": "triplets",
        "evaluator": "judge",
        "second_evaluator": None,
        "sets": by_set(rows, SPLITS),
        "others": {"empty-by-judge": by_set(rows[:1], SPLITS)},
        "failed": failed_records(rows, SPLITS),
    }
    return EvaluationView(**facts | changes)


def test_every_failure_is_on_the_page_under_its_kind_and_leads_to_its_record() -> None:
    assert {kind: len(found) for kind, found in view().failures.items()} == {
        "direct": 1,
        "proximity": 1,
        "lost": 1,
        "unjudged": 1,
        "no_output": 1,
    }
    page = Page(evaluation_page(view()))
    assert all(link.removeprefix("#") in page.ids for link in page.links)
    assert page.links.count("#record-1") == 4
    assert [said for said, _ in page.marks] == ["Ana Lima", "Ana Lima"]
    for said in ("closer-2: invalid_reply", "a sister", "proximity, as close", "The sanitizer gave nothing: refusal"):
        assert said in page.text
    assert "script" not in page.tags


def test_hostile_text_stays_text() -> None:
    hostile = row(
        "r" + HOSTILE,
        [target("direct", HOSTILE, HOSTILE, guess=HOSTILE, original_guess=HOSTILE, reason=HOSTILE)],
        [kept("lost", HOSTILE, HOSTILE, guess=HOSTILE, reason=HOSTILE)],
        domain=HOSTILE,
        instruction=HOSTILE,
        sanitized=f"x{HOSTILE}y",
    )
    nothing = row("s", [target("no_output")], failure=HOSTILE, sanitized=None)
    shown = view([hostile, nothing], name=HOSTILE, dataset=HOSTILE, sanitizer=HOSTILE, evaluator=HOSTILE)
    page = Page(evaluation_page(shown))
    assert "script" not in page.tags
    assert "img" not in page.tags
    assert "onerror" not in page.attributes
    assert "\u202e" not in page.text
    assert "\x1b" not in page.text
    assert page.text.count("<script>alert(1)</script>") >= 12
    assert "49" not in page.text.replace("0.49", "")


def test_the_tables_have_the_papers_rows_for_the_set_they_are_of_and_ours_below() -> None:
    every, vanilla, hard = table4(view().evaluations)
    assert [row.source for row in every.rows] == ["ours", "ours"]
    assert [row.name for row in vanilla.rows[:2]] == ["o3", "DeepSeek R1"]
    assert vanilla.rows[0].rates[6].value == pytest.approx(0.7025)
    assert [row.name for row in vanilla.rows[-2:]] == ["empty-by-judge", "triplets-by-judge"]
    assert hard.rows[2].rates[6].value == pytest.approx(0.1314)
    assert [row.name for row in hard.rows if row.source == "ours"] == ["triplets-by-judge"]
    assert tuple(HEADINGS) == tuple(field.name for field in fields(Table4))


def test_tables_5_6_and_10_stand_beside_the_papers() -> None:
    every, vanilla, hard = table5(view().evaluations)
    assert (len(vanilla.rows), vanilla.rows[0].rates[0].value) == (len(PAPER.table5) + 2, 0.604)
    assert [rate.value for rate in every.rows[-1].rates] == [0.5, 0.0, 0.5]
    assert [rate.value for rate in vanilla.rows[-1].rates] == [None, None, None]  # no leak, no share
    assert len(hard.rows) == 1
    assert [rate.low for rate in every.rows[-1].rates] == [0.5, 0.0, 0.5]  # one record leaks: each sample with it does
    every6, vanilla6, hard6 = table6(view().evaluations)
    assert [block.source for block in vanilla6.blocks] == ["paper"] * 6 + ["ours"] * 2
    assert [block.source for block in every6.blocks] == ["ours"] * 2
    assert [block.name for block in hard6.blocks] == ["triplets-by-judge"]
    assert [len(table.blocks[-1].top) for table in table10(view().evaluations)] == [2, 0, 2]
    unsplit = {"mine": by_set(ROWS, None)}
    assert [block.source for block in table6(unsplit)[0].blocks] == ["paper"] * 6 + ["ours"]


def test_shares_of_the_paper_add_up() -> None:
    assert all(abs(each.direct + each.inference + each.proximity - 100) < 0.2 for each in PAPER.table5)
    assert all(len(each.top) == 8 for each in (*PAPER.table6, *PAPER.table10))
    assert all(
        [part.percent for part in each.top] == sorted((part.percent for part in each.top), reverse=True)
        for each in (*PAPER.table6, *PAPER.table10)
    )
    assert len({(each.set, each.name) for each in PAPER.table4}) == 22


def test_a_page_without_failures_says_so() -> None:
    assert "None: nothing leaks" in Page(evaluation_page(view(ROWS[:1]))).text


def test_the_terminal_says_what_was_not_judged() -> None:
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(render_scores(view()))
    said = " ".join(console.export_text().split())
    assert "All records: facts not judged: 1; records open for that alone: 0" in said
    assert "All records: records without output: 1 (1 refusal)" in said
    assert "All records: values of one or two characters: 1;" in said
    assert "GPT-5, paper" in said
