from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.spans import Spans, flags, overlaps, runs, union

Pairs = list[list[tuple[int, int]]]


@st.composite
def spans(draw: st.DrawFn, rows: int) -> Pairs:
    pair = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda ab: (min(ab), max(ab)))
    return [draw(st.lists(pair, max_size=5)) for _ in range(rows)]


def inside(pairs: list[tuple[int, int]]) -> set[int]:
    return {place for start, end in pairs for place in range(start, end)}


@given(data=st.data(), rows=st.integers(0, 3))
@settings(max_examples=200, deadline=None)
def test_spans_overlap_exactly_if_they_share_a_character(data: st.DataObject, rows: int) -> None:
    ours, others = data.draw(spans(rows)), data.draw(spans(rows))
    expected = [
        bool(inside([pair]) & inside(other_row)) for row, other_row in zip(ours, others, strict=True) for pair in row
    ]
    assert overlaps(Spans.of(ours), Spans.of(others)).tolist() == expected


@given(pairs=spans(3))
@settings(max_examples=150, deadline=None)
def test_a_union_holds_the_same_characters_in_sorted_spans_apart(pairs: Pairs) -> None:
    merged = union(Spans.of(pairs)).pairs()
    assert [inside(row) for row in merged] == [inside(row) for row in pairs]
    for row in merged:
        assert all(start < end for start, end in row)
        assert all(end < start for (_, end), (start, _) in pairwise(row))
    expected = [place in inside(row) for row in pairs for place in range(12)]
    assert flags(Spans.of(pairs), np.full(3, 12)).tolist() == expected


def test_spans_to_the_ends_of_neighbouring_texts_stay_apart() -> None:
    assert union(Spans.of([[(0, 3)], [(0, 2)]])).pairs() == [[(0, 3)], [(0, 2)]]
    assert flags(Spans.of([[(1, 3)], [(0, 1)]]), np.array([3, 2])).tolist() == [False, True, True, True, False]


@given(pairs=spans(4))
@settings(max_examples=150, deadline=None)
def test_runs_of_flags_are_the_union_of_their_spans_cut_between_texts(pairs: Pairs) -> None:
    lengths = np.array(
        [max((end for _, end in row), default=0) for row in pairs]
    )  # spans reach the ends of their texts
    found = runs(flags(Spans.of(pairs), lengths), lengths)
    assert found.pairs() == union(Spans.of(pairs)).pairs()
    with pytest.raises(ValueError, match="flags has 1 elements"):
        runs(np.ones(1, dtype=np.bool_), np.array([1, 1]))


def test_pairs_come_back_as_they_were_given() -> None:
    pairs = [[(4, 9), (0, 2)], [], [(3, 3)]]
    assert Spans.of(pairs).pairs() == pairs


def test_bad_spans_are_refused_by_row() -> None:
    with pytest.raises(ValueError, match=r"row 1: \[5, 3\) is no span"):
        Spans.of([[(0, 1)], [(5, 3)]])
    with pytest.raises(ValueError, match=r"row 1: span \[2, 7\) ends after the text's 6 code points"):
        flags(Spans.of([[(0, 9)], [(2, 7)]]), np.array([9, 6]))
    with pytest.raises(ValueError, match="spans of 1 texts cannot be compared with spans of 2"):
        overlaps(Spans.of([[]]), Spans.of([[], []]))
    with pytest.raises(ValueError, match="row offsets must begin with 0 and end with the 1 elements"):
        Spans(np.array([0]), np.array([1]), np.array([0, 2]))
    with pytest.raises(ValueError, match="row 1 has a negative length"):
        Spans(np.array([0]), np.array([1]), np.array([0, 2, 1]))
