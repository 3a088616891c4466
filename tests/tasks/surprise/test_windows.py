import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.segments import Cut, delimited, lines, sentences, tile
from tasks.surprise.spans import Spans
from tasks.surprise.windows import PieceWindows, Windows, fixed_windows, span_windows, tiled_windows, whole_windows
from tests.tasks.surprise.batches import booleans, split, tokens_of
from tests.tasks.surprise.tokenizers_of import bytes_tokenizer
from tests.tasks.surprise.tokenizers_of import tokens_of as tokens_by

MERGES = [("Ċ", "Ċ"), (":", "ĊĊ"), ("č", "Ċ"), ("Ċ", "Ġ"), ("ĊĠ", "Ġ")]  # tokens across line ends


def intervals(windows: Windows) -> list[list[tuple[int, int]]]:
    return [
        list(zip(first, stop, strict=True))
        for first, stop in zip(
            split(windows.first, windows.row_offsets), split(windows.stop, windows.row_offsets), strict=True
        )
    ]


def test_fixed_windows_begin_everywhere_but_do_not_leave_their_record() -> None:
    windows = fixed_windows(np.array([0, 3, 3, 4, 6]), 2)
    assert intervals(windows) == [[(0, 2), (1, 3)], [], [], [(4, 6)]]
    with pytest.raises(ValueError, match="windows of 0 tokens"):
        fixed_windows(np.array([0, 3]), 0)


def test_the_whole_completion_reaches_from_the_first_to_the_last_supervised_token() -> None:
    supervised = [[0, 1, 1, 0], [], [0, 0], [1, 0, 1]]
    windows = whole_windows(np.array([0, 4, 4, 6, 9]), booleans(supervised))
    assert intervals(windows) == [[(1, 3)], [], [], [(6, 9)]]


def lines_of(text: str) -> tuple[PieceWindows, list[str]]:
    """The windows of a text's lines, and the texts of their tokens."""
    tokens = tokens_by(bytes_tokenizer(merges=MERGES), [text])
    cover = tiled_windows(tokens, tile([text], lines))
    spans = tokens.spans.pairs()[0]
    held = intervals(cover.windows)[0]
    return cover, ["".join(text[a:b] for a, b in spans[first:stop]) for first, stop in held]


def test_a_blank_line_inside_a_token_joins_the_line_the_token_began_in() -> None:
    cover, held = lines_of("if a:\n\n  b\n")
    assert held == ["if a:\n\n", "  b\n"]
    assert cover.window_of.tolist() == [0, 0, 1]


def test_a_blank_line_with_a_token_of_its_own_is_a_window() -> None:
    cover, held = lines_of("a\r\n\r\nb\rc")
    assert held == ["a\r\n", "\r\n", "b\r", "c"]
    assert cover.window_of.tolist() == [0, 1, 2, 3]


def test_a_token_across_a_line_end_is_in_the_line_it_begins_in_and_in_no_other() -> None:
    cover, held = lines_of("a\n  b\n  c")
    assert held == ["a\n  ", "b\n  ", "c"]
    assert cover.window_of.tolist() == [0, 1, 2]


@given(
    texts=st.lists(st.text(st.sampled_from("a:. \r\né"), max_size=14), min_size=1, max_size=3),
    cut=st.sampled_from([lines, sentences, delimited(".:")]),
    most=st.sampled_from([None, 3]),
)
@settings(max_examples=200, deadline=None)
def test_tiles_hold_every_token_once_and_every_character_up_to_the_cut_once(
    texts: list[str], cut: Cut, most: int | None
) -> None:
    texts = [text or "a" for text in texts]
    tokens = tokens_by(bytes_tokenizer(merges=MERGES), texts, most)
    pieces = tile(texts, cut)
    cover = tiled_windows(tokens, pieces)
    held = intervals(cover.windows)
    assert [place for row in held for first, stop in row for place in range(first, stop)] == list(range(tokens.size))
    assert all(first < stop for row in held for first, stop in row)
    spans = [pair for row in tokens.spans.pairs() for pair in row]
    ends = [row[-1][1] for row in tokens.spans.pairs()]
    for r, row in enumerate(pieces.pairs()):
        of_row = split(cover.window_of, pieces.row_offsets)[r]
        assert [window >= 0 for window in of_row] == [start < ends[r] for start, _ in row]
        joined = [window for window in of_row if window >= 0]
        assert set(joined) == set(range(int(cover.windows.row_offsets[r]), int(cover.windows.row_offsets[r + 1])))
        assert joined == sorted(joined)
        for window, (start, end) in zip(joined, row, strict=False):
            begins = [spans[t][0] for t in range(cover.windows.first[window], cover.windows.stop[window])]
            first_piece = joined.index(window)
            assert all(row[first_piece][0] <= place < row[first_piece][1] for place in begins)
            assert end > start


def test_rows_without_tokens_have_no_windows_between_rows_that_have() -> None:
    tokens = tokens_of([[1, 2], [], [3]])
    cover = tiled_windows(tokens, Spans.of([[(0, 2)], [], [(0, 1)]]))
    assert intervals(cover.windows) == [[(0, 2)], [], [(2, 3)]]
    no_text = tokens_of([[1], [2], [3]], [[(0, 1)], [(0, 0)], [(0, 1)]])  # a prefix token of an empty text
    held = intervals(tiled_windows(no_text, Spans.of([[(0, 1)], [], [(0, 1)]])).windows)
    assert held == [[(0, 1)], [(1, 2)], [(2, 3)]]
    blank = tokens_of([[1], [2]], [[(0, 8)], [(0, 0)]])  # the token of the first text spans its blank last line
    assert tiled_windows(blank, Spans.of([[(0, 7), (7, 8)], []])).window_of.tolist() == [0, 0]
    empty = tiled_windows(tokens_of([[], []]), Spans.of([[], [(0, 4)]]))
    assert empty.windows.size == 0
    assert empty.window_of.tolist() == [-1]


@given(data=st.data())
@settings(max_examples=150, deadline=None)
def test_the_window_of_a_span_holds_the_tokens_that_share_a_character_with_it(data: st.DataObject) -> None:
    rows = []
    for _ in range(data.draw(st.integers(1, 3))):
        bounds = sorted(data.draw(st.sets(st.integers(1, 9), max_size=5)))
        tiles = list(zip([0, *bounds], bounds, strict=False))
        rows.append([pair for pair in tiles for _ in range(data.draw(st.integers(1, 2)))])
    pair = st.tuples(st.integers(0, 11), st.integers(0, 11)).map(lambda ab: (min(ab), max(ab)))
    spans = [data.draw(st.lists(pair, max_size=4)) for _ in rows]
    tokens = tokens_of([[0] * len(row) for row in rows], rows)
    cover = span_windows(tokens, Spans.of(spans))
    held = [window for row in intervals(cover.windows) for window in row]
    expected: list[tuple[int, int]] = []
    window_of: list[int] = []
    for start, row, marked in zip(tokens.row_offsets[:-1].tolist(), rows, spans, strict=True):
        for a, b in marked:
            inside = [start + t for t, (c, d) in enumerate(row) if max(a, c) < min(b, d)]
            window_of.append(len(expected) if inside else -1)
            if inside:
                expected.append((inside[0], inside[-1] + 1))
    assert held == expected
    assert cover.window_of.tolist() == window_of
    assert np.diff(cover.windows.row_offsets).tolist() == [
        sum(window >= 0 for window in row) for row in split(cover.window_of, Spans.of(spans).row_offsets)
    ]


def test_the_token_across_the_border_of_prompt_and_answer_is_in_the_answer() -> None:
    tokens = tokens_of([[0, 1, 2]], [[(0, 3), (3, 6), (6, 8)]])
    assert intervals(span_windows(tokens, Spans.of([[(4, 8)]])).windows) == [[(1, 3)]]


def test_pieces_that_do_not_tile_are_refused_by_row() -> None:
    tokens = tokens_of([[1], [1, 2, 3]])
    for pieces in ([[(0, 1)], [(0, 1), (2, 3)]], [[(0, 1)], [(1, 3)]], [[(0, 1)], [(0, 1), (1, 1), (1, 3)]]):
        with pytest.raises(ValueError, match="row 1: piece"):
            tiled_windows(tokens, Spans.of(pieces))
    with pytest.raises(ValueError, match="row 1: a token ends at 3, the pieces at 2"):
        tiled_windows(tokens, Spans.of([[(0, 1)], [(0, 2)]]))
    with pytest.raises(ValueError, match="rows of pieces has 1 elements, but there are 2 rows of tokens"):
        tiled_windows(tokens, Spans.of([[(0, 1)]]))
