import re

import pytest

from tasks.report import pictures
from tasks.report.compare import compare
from tasks.report.domains import categories
from tasks.report.figures import Drop, Spending, Summary
from tasks.report.summary import summarize
from tests.tasks.report.tables import attribute, record, records

SUMMARY = summarize([records(record("r0", domain="Home & Garden", attributes=[attribute("k", "v")]))], [])
LOCAL = Spending("tiny", 1, 0, 9, 100, 20, 50, 0, cost_usd=0.0, rejects_cost_usd=0.0)


def test_colours_are_the_pages() -> None:
    drawn = pictures.domains(categories(SUMMARY))
    assert "fill: var(--ours)" in drawn
    assert "fill: var(--ink)" in drawn
    assert re.findall(r"#[0-9a-f]{6}\b", drawn) == []


def test_text_stays_text_and_is_no_formula() -> None:
    drawn = pictures.drops([Drop("filtered", "draft", "$\\frac$ <b> 日本 \u202e", 3)])
    assert "$\\frac$ &lt;b&gt; 日本 ⟨U+202E⟩" in drawn


def test_a_long_name_is_cut() -> None:
    assert "x" * 33 + "…" in pictures.drops([Drop("filtered", "draft", "x" * 80, 3)])


def test_a_model_that_costs_nothing_has_no_cost_to_show() -> None:
    assert "US$" not in pictures.spending([LOCAL])
    assert "US$" in pictures.spending(
        [LOCAL, Spending("large", 1, 0, 9, 1, 0, 1, 0, cost_usd=2.0, rejects_cost_usd=1.0)]
    )


def test_domains_that_the_paper_lacks_are_shown_too() -> None:
    assert "Home &amp; Garden" in pictures.domains(categories(SUMMARY))
    *_, last = categories(SUMMARY)
    assert (last.name, last.share, last.paper) == ("Home & Garden", 1.0, None)
    assert [sub.name for sub in last.subcategories] == ["Medical Care"]


def test_a_subcategory_stands_under_its_own_domain_only() -> None:
    two = summarize([records(record("r0", subcategory="Odd Jobs"), record("r1", domain="Home & Garden"))], [])
    health, *_, home = categories(two)
    assert [sub.name for sub in health.subcategories if sub.paper is None] == [
        "Preventive Health & Nutrition",
        "Odd Jobs",
    ]
    assert [(sub.name, sub.records, sub.share) for sub in home.subcategories] == [("Medical Care", 1, 0.5)]


@pytest.mark.parametrize("summary", [SUMMARY, summarize([], [])])
def test_every_picture_can_be_drawn_and_says_what_it_shows(summary: Summary) -> None:
    drawn = [
        pictures.domains(categories(summary)),
        pictures.lengths(summary),
        pictures.annotations(summary),
        pictures.diversity(compare({"set": summary})),
        pictures.ages(summary.profiles.ages),
    ]
    for picture in drawn:
        assert re.match(r'<svg viewBox="[-0-9. ]+" role="img" aria-label="[^"]+">', picture)
        assert picture.rstrip().endswith("</svg>")
