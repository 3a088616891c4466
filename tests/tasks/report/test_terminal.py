from typing import Any

from rich.console import Console, RenderableType

from tasks.report.compare import compare
from tasks.report.summary import summarize
from tasks.report.terminal import render_compare, render_record, render_summary
from tests.tasks.report.tables import attribute, record, records, reject, rejects, step


def shown(renderable: RenderableType, **options: Any) -> str:
    console = Console(width=100, record=True, **options)
    with console.capture() as captured:
        console.print(renderable)
    return captured.get()


RECORD = record(
    "r0",
    "Dear Ada Park, 2024 [bold]x[/bold]",
    attributes=[
        attribute("full_name", "Ada Park", (5, 13)),
        attribute("last_name", "Park", (9, 13)),
        attribute("year", "2024", (15, 19)),
        attribute("age", "9", grounded=False),
    ],
    groups=[{"name": "name", "keys": ["full_name"]}, {"name": "family", "keys": ["last_name"]}],
)


def test_marks_are_told_apart_without_colour() -> None:
    text = shown(render_record(RECORD), color_system=None)
    assert "Dear [Ada Park]¹·², [2024] [bold]x[/bold]" in text
    assert "1 name" in text
    assert "full_name: Ada Park" in text
    assert "· in no group" in text
    assert "age: 9 (not in the text)" in text
    assert "\x1b" not in text


def test_marks_are_underlined_and_coloured_where_the_terminal_can() -> None:
    text = shown(render_record(RECORD), force_terminal=True, color_system="standard", no_color=False)
    assert "\x1b[4;36mAda \x1b[0m" in text  # underlined, in the first group's colour
    assert "\x1b[4;33mPark\x1b[0m" in text


def test_a_record_cannot_steer_the_terminal() -> None:
    hostile = "\x1b[2J\x1b]0;title\x07 \u202eevil"
    row = record("r0", hostile, record_type=hostile, model=hostile, groups=[{"name": hostile, "keys": []}])
    text = shown(render_record(row), color_system=None)
    assert {"\x1b", "\x07", "\u202e"}.isdisjoint(text)
    assert "⟨U+001B⟩[2J" in text


def test_a_summary_shows_figures_drops_and_notices() -> None:
    rows = [record("r0", refinement=[step(1, "candidate", accepted=True, gain=0.5)]), record("r1")]
    dropped = rejects(reject("r2", "[red]refusal[/red]"))
    text = shown(render_summary(summarize([records(*rows)], [dropped])), color_system=None)
    assert "2 of 3 rows" in text
    assert "+0.500" in text
    assert "[red]refusal[/red]" in text
    assert "! Only 1 of 2 texts are different" in text
    assert "$0.5500" in text


def test_reasons_beyond_the_first_eight_are_added_up() -> None:
    dropped = rejects(*(reject(f"r{i}", f"reason {i:02}") for i in range(11)))
    text = shown(render_summary(summarize([], [dropped])), color_system=None)
    assert "reason 07" in text
    assert "reason 08" not in text
    assert "3   for other reasons" in text


def test_a_set_of_nothing_has_a_summary() -> None:
    text = shown(render_summary(summarize([], [])), color_system=None)
    assert "! No record was kept: there is nothing to measure." in text
    assert "None" not in text


def test_a_comparison_marks_the_papers_rows() -> None:
    text = shown(render_compare(compare({"my [set]": summarize([records(record("r0"))], [])})), color_system=None)
    assert "MIMIC-III Notes (paper, human-written)" in text
    assert "my [set] · Health & Wellness" in text
    assert "gpt-5 (paper)" in text
