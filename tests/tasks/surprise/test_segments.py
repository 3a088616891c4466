import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.segments import Cut, delimited, lines, sentences, tile

ANY_TEXT = st.text(st.sampled_from("ab .!?…\"')\r\n\t;,。éJ1"), max_size=30)


def pieces(text: str, cut: Cut) -> list[str]:
    return [text[start:end] for start, end in tile([text], cut).pairs()[0]]


@given(text=ANY_TEXT, cut=st.sampled_from([lines, sentences, delimited(".,;")]))
@settings(max_examples=200, deadline=None)
def test_every_character_is_in_exactly_one_piece(text: str, cut: Cut) -> None:
    assert "".join(pieces(text, cut)) == text
    assert all(pieces(text, cut))


@given(text=st.text(st.sampled_from("ab \r\n"), max_size=20))
@settings(max_examples=100, deadline=None)
def test_lines_are_those_that_python_splits_at_its_three_line_ends(text: str) -> None:
    assert pieces(text, lines) == text.splitlines(keepends=True)


def test_line_ends_belong_to_their_line_and_other_separators_end_none() -> None:
    assert pieces("a\r\n\r\nb\rc\n\x0c\u2028d", lines) == ["a\r\n", "\r\n", "b\r", "c\n", "\x0c\u2028d"]


@pytest.mark.parametrize(
    "expected",
    [
        ["She left. ", "He stayed! ", "Why?"],
        ["Dr. J. Ortiz met Mrs. Lin at 4 p.m. on Friday. ", "They talked."],
        ["“Really?” he asked. ", "(Yes.) ", "Fine."],
        ["He said no. ", "See no. 7 and fig. 3 for more."],
        ["Version 2.5 costs 3.10 e.g. in May... and more. ", "Done"],
        ["Name: Ana\n", "Born: 1990-01-02\r\n\r\n", "No address"],
        ["bread, milk etc.\n", "eggs!\n", "and salt"],
        ["今日は雨です。", "明日は？", "晴れ"],
        ["A list;   still one sentence, isn't it? ", "Éva agrees."],
    ],
)
def test_sentences_end_where_a_reader_ends_them(expected: list[str]) -> None:
    assert pieces("".join(expected), sentences) == expected


def test_a_long_run_of_blanks_or_dots_is_looked_at_once() -> None:
    blanks, dots = " " * 300_000, "." * 300_000  # a pattern that tries each place anew takes minutes
    assert sentences(f"a{blanks}b") == []
    assert sentences(f"a{dots}b") == []
    assert sentences(f"a{dots} B{blanks}\nc") == [300_002, 600_004]


def test_segments_end_after_a_run_of_delimiters_and_the_space_behind() -> None:
    assert pieces("a, b; c -- d].", delimited(",;-]")) == ["a, ", "b; ", "c -- ", "d]", "."]
    with pytest.raises(ValueError, match="at least one delimiter"):
        delimited("")


def test_an_empty_text_has_no_piece() -> None:
    assert tile(["", "a"], lines).pairs() == [[], [(0, 1)]]
