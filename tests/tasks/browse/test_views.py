"""What rows become before a template sees them."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.browse.judged import OUTCOMES, outcome_of
from tasks.browse.refined import refined
from tasks.browse.scored import beginning
from tasks.browse.snippet import LENGTH, snippet
from tasks.browse.svg import without_styles
from tasks.report.drawing import draw


def shown(text: str, *words: str) -> str:
    """The snippet with what was found in brackets."""
    return "".join(f"[{part.text}]" if part.hit else part.text for part in snippet(text, words))


@pytest.mark.parametrize(
    ("text", "words", "line"),
    [
        ("a  short\n\ttext", (), "a short text"),
        ("Ann met Anna, ann", ("ann",), "[Ann] met [Ann]a, [ann]"),
        ("the blood  pressure", ("blood pressure",), "the [blood pressure]"),
        ("1.5 (or so)", ("(or", "1.5"), "[1.5] [(or] so)"),
        ("山田は東京都", ("東京",), "山田は[東京]都"),  # in the middle of what has no spaces
        ("환자는 병원에", ("환자",), "[환자]는 병원에"),
        ("Herr Nguyễn, Nguye\u0302\u0303n", ("nguyen",), "Herr [Nguyễn], [Nguye\u0302\u0303n]"),
        ("Die Straße, ＩＤ ４７", ("strasse", "id"), "Die [Straße], [ＩＤ] ４７"),
        ("concat", ("nca",), "concat"),
        ("", ("x",), ""),
        ("nothing of it", ("else",), "nothing of it"),
    ],
)
def test_a_snippet_is_one_line_with_what_was_found_marked(text: str, words: tuple[str, ...], line: str) -> None:
    assert shown(text, *words) == line


def test_a_snippet_begins_before_the_first_hit_and_says_that_there_is_more() -> None:
    line = shown("word " * 100 + "needle " + "word " * 100, "needle")
    assert line.startswith("… word word")
    assert "[needle]" in line
    assert line.endswith(" …")
    assert len(line) <= LENGTH + 10


def test_a_snippet_begins_before_a_hit_that_is_written_otherwise() -> None:
    assert "私の[血圧]は" in shown("あ" * 300 + "。私の血圧は高い", "血圧")
    assert "[Nguyễn]" in shown("word " * 100 + "Nguyễn", "nguyen")


@settings(max_examples=100)
@given(st.text(max_size=300), st.lists(st.text(max_size=5), max_size=3))
def test_a_snippet_of_anything_is_short(text: str, words: list[str]) -> None:
    assert sum(len(part.text) for part in snippet(text, words)) <= LENGTH + 4


def test_a_picture_without_styles_looks_the_same() -> None:
    styled = str(draw("x", "says", (3, 2), lambda axes: axes.plot([1, 2], [3, 4], "--", label="a & b")))
    plain = str(without_styles(styled))
    assert " style=" in styled
    assert " style=" not in plain
    assert plain.count('fill="none"') == styled.count("fill: none")
    assert plain.count('stroke="var(--faint)"') == styled.count("stroke: var(--faint)")


def step(**values: Any) -> dict[str, Any]:
    return {
        "step": 1,
        "verdict": "current",
        "candidate_shown_first": False,
        "pool_size": 4,
        "vendi_current": None,
        "vendi_candidate": None,
        "score": None,
        "accepted": False,
        **values,
    }


def test_the_widest_bar_is_the_largest_difference_of_a_record() -> None:
    steps = [step(vendi_current=2.0, vendi_candidate=2.5), step(vendi_current=2.0, vendi_candidate=1.75), step()]
    assert [(each.gain, each.width) for each in refined(steps)] == [(0.5, 100), (-0.25, 50), (None, 0)]
    assert refined([step(vendi_current=2.0, vendi_candidate=2.0)])[0].width == 0


def fact(outcome: str) -> dict[str, str]:
    return {"outcome": outcome}


def test_a_record_is_called_by_its_gravest_outcome() -> None:
    order = ["direct", "inference", "proximity", "no_output", "unjudged", "lost"]
    for graver, other in pairwise(order):
        row = {"targets": [fact("safe"), fact(other)], "retained": [fact(graver), fact("exact")]}
        assert outcome_of(row) == graver
    assert outcome_of({"targets": [fact("safe")], "retained": [fact("exact"), fact("present")]}) == "safe"
    assert outcome_of({"targets": [], "retained": []}) == "safe"
    assert set(order) == {name for name, (_, tone) in OUTCOMES.items() if tone != "good"}


def test_the_beginning_of_a_long_text_ends_with_a_whole_token() -> None:
    row = {
        "text": "abcdefghij",
        "covered": 10,
        "supervised": [{"start": 0, "end": 2}, {"start": 6, "end": 10}],
        "labels": [{"start": 3, "end": 9, "category": "x"}],
        "regions": [],
        "token_ids": [1, 2, 3],
        "token_starts": [0, 4, 7],
        "token_ends": [4, 7, 10],
        "nll": [{"name": "plain", "values": [0.0, 1.0, 2.0]}],
    }
    cut = beginning(row, 8)
    assert (cut["text"], cut["covered"], cut["token_ends"]) == ("abcdefg", 7, [4, 7])
    assert cut["supervised"] == [{"start": 0, "end": 2}, {"start": 6, "end": 7}]
    assert cut["labels"] == [{"start": 3, "end": 7, "category": "x"}]
    assert cut["nll"] == [{"name": "plain", "values": [0.0, 1.0]}]
    assert beginning(row, 10) is row
