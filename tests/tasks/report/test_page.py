import re
from collections import Counter
from html.parser import HTMLParser
from typing import Any

import pytest

from tasks.report.compare import compare
from tasks.report.page import comparison_page, report_page
from tasks.report.summary import summarize
from tests.tasks.report.tables import PAIRS, attribute, record, records, reject, rejects, step

HOSTILE = (
    "<script>alert(1)</script></style></title><!-- \u202eexe.\x1b[31m \u0301 {{ 7*7 }} &lt; \"'> <img src=x onerror=y>"
)
VOID = {"meta", "path", "use", "rect", "img", "br"}


class Page(HTMLParser):
    """What a browser would see: every element is closed in its turn, or the page is refused."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, dict[str, str | None]]] = []
        self.tags: Counter[str] = Counter()
        self.attributes: set[str] = set()
        self.ids: list[str] = []
        self.links: list[str] = []
        self.marks: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.styles = ""
        self.feed(source)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags[tag] += 1
        self.attributes |= set(named)
        self.ids += [value for name, value in attrs if name == "id" and value]
        self.links += [value for name, value in attrs if name in ("href", "src", "xlink:href") and value]
        if tag not in VOID:
            self.open.append((tag, named))
        if tag == "mark":
            self.marks.append(("", named))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        within = self.open[-1][0] if self.open else ""
        if within == "style":
            self.styles += data
            return
        self.text += data
        if within == "mark":
            said, named = self.marks[-1]
            self.marks[-1] = (said + data, named)


def report(*rows: dict[str, Any], dropped: tuple[dict[str, Any], ...] = (), name: str = "set") -> Page:
    summary = summarize([records(*rows)], [rejects(*dropped)])
    return Page(report_page(name, summary, records(*rows).to_pylist(), rejects(*dropped).to_pylist()))


def test_hostile_text_stays_text_wherever_it_comes_from() -> None:
    columns = dict.fromkeys(("model", "language", "domain", "subcategory", "record_type", "context", "format"), HOSTILE)
    row = record(
        "r0" + HOSTILE,
        HOSTILE + " and more",
        **columns,
        attributes=[attribute(HOSTILE, HOSTILE, (0, 8), (3, len(HOSTILE)))],
        groups=[{"name": HOSTILE, "keys": [HOSTILE]}],
        profile=record("r0")["profile"] | {"sex": HOSTILE, "ethnicity": HOSTILE},
    )
    drop = reject("r1", HOSTILE, step=HOSTILE, outcome=HOSTILE, detail=HOSTILE, last_reply=HOSTILE, model=HOSTILE)
    page = report(row, dropped=(drop,), name=HOSTILE)
    assert {"script", "img", "iframe", "link"}.isdisjoint(page.tags)
    assert not any(name.startswith("on") for name in page.attributes)
    assert page.tags["style"] == page.tags["title"] == 1
    assert "<script>alert(1)</script></style></title><!-- ⟨U+202E⟩exe.⟨U+001B⟩[31m" in page.text
    assert "{{ 7*7 }}" in page.text
    assert {"\u202e", "\x1b"}.isdisjoint(page.text)


def test_a_page_fetches_nothing() -> None:
    page = report(record("r0"), dropped=(reject("r1"),))
    assert all(link.startswith("#") for link in page.links)
    assert "url(" not in page.styles
    assert "@import" not in page.styles


def test_every_link_leads_to_the_one_place_of_its_name() -> None:
    page = report(
        record("r0", refinement=[step(1, "candidate", gain=0.1)]), record("r1", PAIRS), dropped=(reject("r2"),)
    )
    assert max(Counter(page.ids).values()) == 1
    assert {link.removeprefix("#") for link in page.links} <= set(page.ids)


def test_overlapping_touching_and_astral_spans_are_marked_where_they_stand() -> None:
    text = "🙂Ada Park2024."
    row = record(
        "r0",
        text,
        attributes=[
            attribute("full_name", "Ada Park", (1, 9)),
            attribute("last_name", "Park", (5, 9)),
            attribute("year", "2024", (9, 13)),
            attribute("mood", "🙂", (0, 1)),
        ],
        groups=[{"name": "name", "keys": ["full_name"]}, {"name": "family", "keys": ["last_name", "year"]}],
    )
    marks = [(said, named["class"], named["title"], named.get("data-groups")) for said, named in report(row).marks]
    assert marks == [
        ("🙂", "g0 u0 opens closes", "mood", ""),
        ("Ada ", "g1 u1 opens", "full_name", None),
        ("Park", "g2 u1 closes", "full_name › last_name", "1,2"),
        ("2024", "g2 u2 opens closes", "year", "2"),
    ]


def test_marks_leave_the_text_whole() -> None:
    text = "line one\n\n  two\tthree"
    page = report(record("r0", text, attributes=[attribute("a", "one", (5, 8)), attribute("b", "e\n\n  t", (7, 13))]))
    assert text in page.text


def test_the_ninth_group_has_the_first_ones_colour_and_its_own_number() -> None:
    groups = [{"name": f"group {n}", "keys": ["k" if n == 9 else "other"]} for n in range(1, 10)]
    ((_, named),) = report(record("r0", "abc", attributes=[attribute("k", "b", (1, 2))], groups=groups)).marks
    assert (named["class"], named["data-groups"]) == ("g1 u1 opens closes", "9")


def test_a_span_outside_its_text_names_the_record() -> None:
    with pytest.raises(ValueError, match=r"record r7: attribute 0: span \[2, 9\) in a text of 3"):
        report(record("r7", "abc", attributes=[attribute("k", "b", (2, 9))]))


@pytest.mark.parametrize("rows", [(), (record("r0"),), (record("r0", "", words=0),)])
def test_sets_of_nothing_and_of_one_record_have_a_page(rows: tuple[dict[str, Any], ...]) -> None:
    page = report(*rows)
    assert ("There is no record to show." in page.text) == (not rows)
    assert "None" not in page.text
    assert not re.search(r"\bnan\b", page.text)


def test_null_fields_are_left_out_or_dashed() -> None:
    person = dict.fromkeys(record("r0")["profile"])
    row = record(
        "r0",
        profile=person,
        record_type=None,
        attributes=[attribute("k", None, grounded=None) | {"source": None, "spans": None}],
        groups=[{"name": None, "keys": None}],
        refinement=[step(1, "current")],
    )
    page = report(row, dropped=(reject("r1", last_reply=None),))
    assert "There is no last reply." in page.text
    assert "None" not in page.text


def test_many_rows_and_few_different_ones_are_said_at_the_top() -> None:
    page = report(*(record(f"r{i}") for i in range(4)))
    assert "Only 1 of 4 texts are different" in page.text


def test_the_same_set_gives_the_same_bytes() -> None:
    table = records(record("r0"), record("r1", PAIRS, (0.0, 1.0)))
    first, second = (report_page("set", summarize([table], []), table.to_pylist(), []) for _ in range(2))
    assert first == second


def test_a_comparison_shows_each_set_among_the_papers() -> None:
    summary = summarize([records(record("r0"))], [])
    page = Page(comparison_page(compare({"one <b>": summary, "two": summary})))
    assert page.tags["table"] == 3
    assert page.tags["b"] == 0
    assert page.text.count("one <b>") == 4  # the picture and three tables
    assert "MIMIC-III Notes" in page.text
