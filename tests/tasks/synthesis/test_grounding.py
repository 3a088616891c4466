"""Spans of values in texts: each folds to the value, none is missed, short values are words."""

import itertools
import re
import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.synthesis.grounding import PLAIN, Folded, find_spans, fold

# Little letters that meet often, with every hard case among them.
LETTERS = st.sampled_from(
    [*"aAb ßẞﬁfiİıeéｅＥ½…´한ㅎㅏᅡᆫｶﾞカ👍🏽5", "\n", "\r\n", "\u00a0", "\u0301", "\u0327"],
)
TEXTS = st.lists(LETTERS, max_size=14).map("".join)
ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=30)


def folded_by_the_book(text: str) -> str:
    return re.sub(r"\s+", " ", unicodedata.normalize("NFKC", text).casefold())


@pytest.mark.parametrize(
    ("text", "value", "found"),
    [
        ("Ana Ruiz met ANA RUIZ.", "ana ruiz", ["Ana Ruiz", "ANA RUIZ"]),
        ("Ana\r\n  Ruiz", "Ana Ruiz", ["Ana\r\n  Ruiz"]),
        ("Ana Ruiz", "Ana\nRuiz", ["Ana Ruiz"]),
        ("Ana\u00a0Ruiz", " Ana Ruiz ", ["Ana\u00a0Ruiz"]),
        ("Hauptstraße 5", "HAUPTSTRASSE 5", ["Hauptstraße 5"]),
        ("HAUPTSTRASSE 5", "Hauptstraße 5", ["HAUPTSTRASSE 5"]),
        ("the oﬃce door", "office", ["oﬃce"]),
        ("the oﬃce door", "the of", []),  # ends inside the ligature
        ("ＡＮＡ　ＲＵＩＺ", "Ana Ruiz", ["ＡＮＡ　ＲＵＩＺ"]),
        ("José and Jose\u0301", "jose\u0301", ["José", "Jose\u0301"]),
        ("Jose\u0301", "Jose", []),  # ends between a letter and its accent
        ("İstanbul, İSTANBUL", "İstanbul", ["İstanbul", "İSTANBUL"]),
        ("ｶﾞｽ代", "ガス代", ["ｶﾞｽ代"]),
        ("1½ cups", "1½ cups", ["1½ cups"]),
        ("well… yes", "well...", ["well…"]),
        ("😀 Ana 👨‍👩‍👧 Ruiz", "👨‍👩‍👧", ["👨‍👩‍👧"]),
        ("aaaa", "aaa", ["aaa"]),
        ("sßß", "ssss", ["ßß"]),  # overlaps a match that ends inside the second ß
        ("Anna", "Hannah", []),
    ],
)
def test_a_value_is_found_whatever_its_form(text: str, value: str, found: list[str]) -> None:
    assert [text[start:end] for start, end in find_spans(text, value)] == found


@pytest.mark.parametrize(
    ("text", "value", "starts"),
    [
        ("Al lives in Alaska with Sal. Al's dog", "Al", [0, 29]),
        ("al_smith and al-smith", "Al", [13]),
        ("5 of 15 in 3.5 km for 5,000, so 5.", "5", [0, 32]),
        ("He is 5岁 old", "5", [6]),
        ("性别：女。女儿来了", "女", [3]),
        ("王明今天来了", "王明", [0]),
        ("민수는 갔다", "민수", [0]),
        ("x 👍👍", "👍", [2, 3]),
        ("AB (AB) aAB", "AB", [0, 4]),
    ],
)
def test_a_value_of_one_or_two_characters_must_be_a_word(text: str, value: str, starts: list[int]) -> None:
    assert [start for start, _ in find_spans(text, value)] == starts


@pytest.mark.parametrize("value", ["", " ", "\u00a0\n"])
def test_an_empty_value_is_an_error(value: str) -> None:
    with pytest.raises(ValueError, match="nothing to look for"):
        Folded("text").find(value)


@given(st.one_of(TEXTS, ANY_TEXT))
@settings(max_examples=80, deadline=None)
def test_folding_piece_by_piece_is_folding_the_whole(text: str) -> None:
    folded, boundaries = fold(text)
    assert folded == folded_by_the_book(text)
    assert len(boundaries) == len(folded) + 1
    assert (boundaries[0], boundaries[-1]) == (0, len(text))
    known = [offset for offset in boundaries if offset >= 0]
    assert known == sorted(set(known))


@given(TEXTS, TEXTS)
@settings(max_examples=80, deadline=None)
def test_every_span_folds_to_the_value(text: str, value: str) -> None:
    wanted = folded_by_the_book(value).strip(" ")
    if wanted:
        spans = find_spans(text + value + text, value)
        assert all(folded_by_the_book((text + value + text)[start:end]) == wanted for start, end in spans)
        assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


@given(st.lists(st.text("abc", min_size=3, max_size=5), max_size=6), st.text("abc", min_size=3, max_size=4))
@settings(max_examples=80, deadline=None)
def test_plain_values_are_found_where_str_finds_them(words: list[str], value: str) -> None:
    text = " ".join(words)
    assert find_spans(text, value) == [match.span() for match in re.finditer(value, text)]


@given(
    st.text(st.sampled_from("xyﬁßé한글 \n"), max_size=8), st.text(st.sampled_from("xyﬁßé한글 "), min_size=3, max_size=6)
)
@settings(max_examples=80, deadline=None)
def test_a_value_put_between_other_words_is_found_there(before: str, value: str) -> None:
    if len(folded_by_the_book(value).strip(" ")) > 2 and value == value.strip():
        text = f"{before}|{value}|"
        assert (len(before) + 1, len(before) + 1 + len(value)) in find_spans(text, value)


def test_plain_characters_fold_to_their_lower_case_one_to_one() -> None:
    plain = re.compile(PLAIN)
    wrong = [
        char
        for char in map(chr, range(0x10000))
        if plain.match(char) and unicodedata.normalize("NFKC", char).casefold() != char.lower()
    ]
    assert wrong == []


def test_a_long_text_and_many_values_take_milliseconds() -> None:
    text = ("Ana Ruiz’s appointment in the Hauptstraße is confirmed… " * 100)[:5_000]
    started = time.process_time()
    folded = Folded(text)
    for number in range(40):
        folded.find(f"value number {number}")
    assert time.process_time() - started < 0.05
