import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.rows import F64, offsets_of
from tasks.surprise.scores import contrast, mean_scores, top_scores
from tasks.surprise.windows import Windows, fixed_windows
from tests.tasks.surprise import naive
from tests.tasks.surprise.batches import NLL, floats, offsets, records, split


def one_record(length: int, width: int) -> Windows:
    return fixed_windows(np.array([0, length]), width)


@given(rows=records(), width=st.integers(1, 5))
@settings(max_examples=150, deadline=None)
def test_mean_scores_are_those_of_the_definition(rows: list[list[float]], width: int) -> None:
    windows = fixed_windows(offsets(rows), width)
    expected = [[naive.mean(row, window) for window in naive.fixed(len(row), width)] for row in rows]
    np.testing.assert_array_equal(mean_scores(floats(rows), windows), floats(expected))
    assert split(windows.first, windows.row_offsets) == [
        [start + first for first, _ in naive.fixed(len(row), width)]
        for row, start in zip(rows, offsets(rows)[:-1].tolist(), strict=True)
    ]


@st.composite
def ragged_windows(draw: st.DrawFn) -> tuple[list[float], list[tuple[int, int]]]:
    """One record and intervals over it: overlapping, nested, apart, out of order."""
    scores = draw(st.lists(NLL, min_size=1, max_size=20))
    bounds = st.tuples(st.integers(0, len(scores)), st.integers(0, len(scores))).filter(lambda ab: ab[0] != ab[1])
    return scores, [(min(ab), max(ab)) for ab in draw(st.lists(bounds, max_size=8))]


def windows_of(intervals: list[tuple[int, int]]) -> Windows:
    pairs = np.array(intervals, dtype=np.int64).reshape(-1, 2)
    return Windows(pairs[:, 0], pairs[:, 1], offsets_of([len(intervals)]))


@given(drawn=ragged_windows(), count=st.integers(1, 4))
@settings(max_examples=150, deadline=None)
def test_windows_of_any_width_are_scored_as_defined(
    drawn: tuple[list[float], list[tuple[int, int]]], count: int
) -> None:
    scores, intervals = drawn
    windows = windows_of(intervals)
    means = [naive.mean(scores, window) for window in intervals]
    np.testing.assert_array_equal(mean_scores(np.array(scores), windows), np.array(means))
    tops = [naive.top(scores, window, count) for window in intervals]
    np.testing.assert_allclose(top_scores(np.array(scores), windows, count), np.array(tops), rtol=1e-15)


def test_forty_equal_scores_of_a_tenth_give_one_window_score_and_all_windows_reach_it() -> None:
    means = mean_scores(np.full(40, 0.1), one_record(40, 4))
    assert means.size == 37
    assert np.unique(means).size == 1
    assert np.count_nonzero(means >= 0.1) == 37


@pytest.mark.parametrize("width", [2, 4, 7, 10, 16])
def test_stored_float32_scores_tie_wherever_they_stand_and_in_whatever_order(width: int) -> None:
    rng = np.random.default_rng(width)
    once = rng.gamma(1.0, 3.0, size=width).astype(np.float32)
    noise = rng.gamma(1.0, 3.0, size=500).astype(np.float32)
    scores = np.concatenate([noise, once, noise[:123], once[::-1], noise, rng.permutation(once)])
    means = mean_scores(scores, one_record(scores.size, width))
    places = [500, 500 + width + 123, scores.size - width]
    assert means[places].tolist() == [math.fsum(once.tolist()) / width] * 3


def test_a_window_of_negative_and_positive_infinity_is_invalid_without_a_warning() -> None:
    means = mean_scores(np.array([1.0, -math.inf, math.inf, 2.0, 3.0]), one_record(5, 2))
    np.testing.assert_array_equal(means, [math.nan, math.nan, math.nan, 2.5])


def test_long_windows_are_laid_out_in_blocks_that_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.arange(30) / 8
    windows = windows_of([(0, 30), (3, 5), (4, 20), (29, 30), (0, 1)])
    whole: tuple[F64, F64] = mean_scores(scores, windows), top_scores(scores, windows, 3)
    monkeypatch.setattr("tasks.surprise.scores._BLOCK", 7)
    np.testing.assert_array_equal(mean_scores(scores, windows), whole[0])
    np.testing.assert_array_equal(top_scores(scores, windows, 3), whole[1])


def test_the_three_largest_of_a_sentence_are_averaged_and_fewer_where_it_is_shorter() -> None:
    scores = np.array([5.0, 1.0, 3.0, 3.0, 0.5, 8.0, 2.0])
    windows = windows_of([(0, 5), (5, 7)])
    np.testing.assert_array_equal(top_scores(scores, windows, 3), [11 / 3, 5.0])


def test_a_contrast_is_positive_where_the_violating_prompt_makes_the_token_likelier() -> None:
    violating, compliant = np.array([0.5, 2.0, math.nan], dtype=np.float32), np.array([2.0, 0.5, 1.0])
    np.testing.assert_array_equal(contrast(violating, compliant), [1.5, -1.5, math.nan])
    with pytest.raises(ValueError, match="the compliant pass has 2 elements, but there are 3 tokens"):
        contrast(violating, compliant[:2])


def test_windows_past_the_scores_and_empty_top_means_are_refused() -> None:
    with pytest.raises(ValueError, match="windows reach token 5, but only 4 tokens are scored"):
        mean_scores(np.zeros(4), one_record(6, 2))
    with pytest.raises(ValueError, match="the mean of the 0 largest"):
        top_scores(np.zeros(4), one_record(4, 2), 0)


def test_no_windows_have_no_scores() -> None:
    assert mean_scores(np.zeros(3), one_record(3, 4)).size == 0
    assert top_scores(np.zeros(3), one_record(3, 4), 3).size == 0
    assert mean_scores(np.zeros(0), fixed_windows(np.array([0, 0]), 1)).size == 0
