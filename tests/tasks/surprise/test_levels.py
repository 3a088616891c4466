import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.levels import character_levels, token_levels
from tasks.surprise.rows import offsets_of
from tasks.surprise.windows import Windows, fixed_windows
from tests.tasks.surprise import naive
from tests.tasks.surprise.batches import tokens_of

LEVEL = st.sampled_from([-math.inf, -1.0, 0.0, 0.5, 2.0])


def kth_highest(intervals: list[tuple[int, int]], levels: list[float], votes: int, tokens: int) -> list[float]:
    """The highest threshold at which the definition masks the token."""
    return [
        max(
            (
                threshold
                for threshold in levels
                if naive.masked(tokens, intervals, [level >= threshold for level in levels], votes)[j]
            ),
            default=-math.inf,
        )
        for j in range(tokens)
    ]


@given(data=st.data(), length=st.integers(0, 12), width=st.integers(1, 5), votes=st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_a_token_of_fixed_windows_is_masked_up_to_its_kth_highest_window(
    data: st.DataObject, length: int, width: int, votes: int
) -> None:
    intervals = naive.fixed(length, width)
    levels = [data.draw(LEVEL) for _ in intervals]
    windows = fixed_windows(np.array([0, length]), width)
    found = token_levels(windows, np.array(levels), votes, length)
    assert found.tolist() == kth_highest(intervals, levels, votes, length)


@given(data=st.data(), length=st.integers(1, 12), votes=st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_so_is_a_token_of_windows_of_any_width(data: st.DataObject, length: int, votes: int) -> None:
    bounds = st.tuples(st.integers(0, length), st.integers(0, length)).filter(lambda ab: ab[0] != ab[1])
    intervals = [(min(ab), max(ab)) for ab in data.draw(st.lists(bounds, max_size=6))]
    levels = [data.draw(LEVEL) for _ in intervals]
    pairs = np.array(intervals, dtype=np.int64).reshape(-1, 2)
    windows = Windows(pairs[:, 0], pairs[:, 1], offsets_of([len(intervals)]))
    found = token_levels(windows, np.array(levels), votes, length)
    assert found.tolist() == kth_highest(intervals, levels, votes, length)


def test_blocks_of_tokens_change_nothing_and_records_stay_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    windows = fixed_windows(np.array([0, 7, 7, 9, 30]), 3)
    levels = np.random.default_rng(0).integers(0, 9, size=windows.size).astype(float)
    whole = token_levels(windows, levels, 2, 30)
    assert whole[7:9].tolist() == [-math.inf] * 2
    monkeypatch.setattr("tasks.surprise.levels._BLOCK", 4)
    assert np.array_equal(token_levels(windows, levels, 2, 30), whole)


def test_a_character_has_the_highest_level_of_its_tokens_and_none_past_the_cut() -> None:
    tokens = tokens_of([[0, 1, 2], [3]], [[(0, 2), (2, 3), (2, 3)], [(0, 1)]])
    levels = character_levels(tokens, np.array([1.0, 0.5, 2.0, 3.0]), np.array([3, 4]))
    assert levels.tolist() == [1.0, 1.0, 2.0, 3.0, -math.inf, -math.inf, -math.inf]


def test_levels_that_do_not_fit_are_refused() -> None:
    windows = fixed_windows(np.array([0, 3]), 2)
    with pytest.raises(ValueError, match="window 1: level NaN"):
        token_levels(windows, np.array([1.0, math.nan]), 1, 3)
    with pytest.raises(ValueError, match="window levels has 1 elements, but there are 2 windows"):
        token_levels(windows, np.array([1.0]), 1, 3)
    with pytest.raises(ValueError, match="a consensus of 0 windows"):
        token_levels(windows, np.array([1.0, 1.0]), 0, 3)
    with pytest.raises(ValueError, match="row 0: a token ends at 3, the text at 2"):
        character_levels(tokens_of([[1, 2, 3]]), np.zeros(3), np.array([2]))
