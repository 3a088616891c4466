"""Decomposition: nothing is lost, nothing is too long, and the cuts fall where a reader would make them."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.sanitization.chunks import Chunk, decompose

# Hard cases are rare among random characters, so they are mixed in by hand, some in runs.
ORDINARY = (
    "a",
    "be ",
    "  ",
    "\n",
    "\n\n",
    "\r\n",
    "\r",
    "\t",
    ". ",
    "- x\n",
    "1. y\r\n",
    "| a | b |\n",
    "\x85",
    "\u2028",
    "\0",
)
SCRIPTS = ("。", "，", "一", "שלום ", "مرحبا، ", "한", "\u1100\u1161\u11a8", "क्षि", "e\u0301", " \u0301")
EMOJI = ("👩\u200d👩\u200d👧", "🇩🇪", "👍🏽")
RUNS = ("w" * 90, " " * 140, "\u0301" * 90, "🇩🇪" * 70, "A sentence of some words. " * 4)
PARTS = st.sampled_from((*ORDINARY, *SCRIPTS, *EMOJI, *RUNS))
TEXTS = st.one_of(st.text(max_size=400), st.lists(PARTS, max_size=60).map("".join))
LIMITS = st.integers(min_value=128, max_value=300)


def texts(chunks: list[Chunk]) -> list[str]:
    return [chunk.text for chunk in chunks]


@given(TEXTS, LIMITS)
@settings(max_examples=150, deadline=None)
def test_the_chunks_of_any_text_joined_are_the_text(text: str, limit: int) -> None:
    chunks = decompose(text, limit)
    assert "".join(texts(chunks)) == text
    assert all(0 < len(chunk.text) <= limit for chunk in chunks)
    assert all(text[chunk.start : chunk.stop] == chunk.text for chunk in chunks)


@given(TEXTS, LIMITS)
@settings(max_examples=150, deadline=None)
def test_no_cut_falls_inside_what_a_reader_sees_as_one_character(text: str, limit: int) -> None:
    characters = list(regex.finditer(r"\X", text))
    ends = {0} | {character.end() for character in characters}
    inside = [chunk.start for chunk in decompose(text, limit) if chunk.start not in ends]
    longer = [character.span() for character in characters if len(character[0]) > limit]
    assert all(any(start < place < end for start, end in longer) for place in inside)


@given(st.lists(st.sampled_from(["One. ", "two three ", "four,\n", "\n\n"]), max_size=80).map("".join))
@settings(max_examples=50, deadline=None)
def test_no_two_neighbouring_paragraphs_would_have_fitted_into_one_chunk(text: str) -> None:
    chunks = decompose(text, 128)
    whole = [chunk.start == 0 or text[: chunk.start].endswith("\n\n") for chunk in chunks]
    for index in range(len(chunks) - 2):
        if all(whole[index : index + 3]):
            assert len(chunks[index].text) + len(chunks[index + 1].text) > 128


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_a_text_is_cut_between_paragraphs_first_whatever_its_line_ends(end: str) -> None:
    paragraphs = [f"{letter * 50}.{end}{letter * 20}{end}{end}" for letter in "abc"]
    assert texts(decompose("".join(paragraphs), 160)) == ["".join(paragraphs[:2]), paragraphs[2]]


def test_a_long_paragraph_is_cut_between_sentences_and_lines() -> None:
    sentences = [
        "He said “" + "x y " * 25 + ".” ",
        "Is it " + "x, y " * 20 + "? ",
        "Line " + "x y " * 25 + "\n",
        "End " * 25,
    ]
    assert texts(decompose("".join(sentences), 130)) == sentences


@pytest.mark.parametrize("title", ["Dr. ", "J. ", "approx. "])
def test_a_full_stop_within_a_sentence_does_not_end_it(title: str) -> None:
    text = "We met, " + "x y " * 20 + title + "Karim " + "x y " * 20
    assert texts(decompose(text, 128))[0] == "We met, "  # at the clause: a full stop would have been stronger


@pytest.mark.parametrize("gap", ["", "\n"])
def test_a_list_that_fits_is_one_chunk_and_its_introduction_goes_before_it(gap: str) -> None:
    listed = gap.join(f"- item {number}: some words of it\n  and its second line\n" for number in range(4))
    text = (
        "These are the medicines that I was given in the year before: \n" + listed + "\nRegards, and thanks for all.\n"
    )
    assert listed.strip() in [chunk.strip() for chunk in texts(decompose(text, 230))]


def test_a_list_that_does_not_fit_is_cut_between_items() -> None:
    items = [f"{number}) word. word. {'x' * 40}\n   second line\n" for number in range(1, 7)]
    assert texts(decompose("".join(items), 160)) == ["".join(items[:2]), "".join(items[2:4]), "".join(items[4:])]


def test_a_table_that_fits_is_one_chunk() -> None:
    table = "| day | dose |\n| --- | --- |\n" + "| Monday. Or not. | 5 mg |\n" * 4
    chunks = texts(decompose("Before. " * 6 + "\n" + table + "After it. " * 6, 140))
    assert table in chunks


def test_unspaced_scripts_are_cut_after_their_full_stops_then_after_their_commas() -> None:
    sentence = "我叫安娜，" + "住" * 60 + "，" + "在" * 50 + "。」"
    assert texts(decompose(sentence * 3, 128)) == [sentence] * 3
    longer = "一" * 100 + "，" + "二" * 100 + "。"
    assert texts(decompose(longer, 128)) == ["一" * 100 + "，", "二" * 100 + "。"]


def test_a_text_without_any_boundary_is_cut_between_characters() -> None:
    family = "👩\u200d👩\u200d👧"  # five code points
    assert [len(chunk) for chunk in texts(decompose(family * 60, 128))] == [125, 125, 50]
    assert [len(chunk) for chunk in texts(decompose("x" + "\u0301" * 300, 128))] == [128, 128, 45]


def test_a_text_of_nothing_has_no_chunks() -> None:
    assert decompose("") == []


@pytest.mark.parametrize("limit", [127, 2049])
def test_a_limit_that_makes_no_sense_is_refused(limit: int) -> None:
    with pytest.raises(ValueError, match=str(limit)):
        decompose("text", limit)


@contextmanager
def counted_work() -> Iterator[dict[str, int]]:
    """Count the lines of Python executed."""
    work = {"lines": 0}

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        work["lines"] += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        yield work
    finally:
        sys.settrace(before)


@pytest.mark.parametrize(
    "unit",
    [
        "A sentence, of words. ",
        "x",
        " ",
        "\n",
        "\r\n",
        "。",
        "🇩🇪",
        "\u0301",
        "- a\n",
        "a\tb\n",
        "Paragraph.\n\n",
        ".)",
        " \u0301",
    ],
)
def test_twice_the_text_is_twice_the_work(unit: str) -> None:
    work = []
    for times in (4_000, 8_000):
        text = (unit * times)[:times]
        with counted_work() as counted:
            decompose(text)
        work.append(counted["lines"])
    assert work[1] <= 2.1 * work[0] + 100
