import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.select import consensus, local_ranks, select_global, select_local
from tasks.surprise.windows import Windows, fixed_windows
from tests.tasks.surprise import naive
from tests.tasks.surprise.batches import booleans, floats, offsets, records


@given(rows=records(longest=16), neighbours=st.integers(1, 6))
@settings(max_examples=150, deadline=None)
def test_local_ranks_are_those_of_the_definition(rows: list[list[float]], neighbours: int) -> None:
    valid = [[score if math.isfinite(score) else math.nan for score in row] for row in rows]
    expected = [[naive.rank(row, i, neighbours) for i in range(len(row))] for row in valid]
    np.testing.assert_allclose(local_ranks(floats(valid), offsets(valid), neighbours), floats(expected), rtol=1e-15)


def test_ranks_in_blocks_and_over_many_short_records_equal_the_definition(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tasks.surprise.select._BLOCK", 50)
    rng = np.random.default_rng(0)
    rows = [rng.integers(0, 9, size=size).astype(float).tolist() for size in [0, 1, 2, 70, 3, 200, 33, 65, 0, 1]]
    expected = [[naive.rank(row, i, 32) for i in range(len(row))] for row in rows]
    np.testing.assert_allclose(local_ranks(floats(rows), offsets(rows)), floats(expected), rtol=1e-15)


def test_with_64_neighbours_ranks_are_multiples_of_1_5625() -> None:
    scores = np.random.default_rng(1).permutation(129).astype(float)
    ranks = local_ranks(scores, np.array([0, 129]))[32:97]
    assert np.array_equal(ranks % 1.5625, np.zeros(65))


def test_among_equals_every_rank_is_100_and_none_is_selected() -> None:
    ranks = local_ranks(np.full(80, 2.5), np.array([0, 80]))
    assert ranks.tolist() == [100.0] * 80
    assert not select_local(ranks, 100.0).any()


def test_a_window_alone_in_its_record_is_not_selected_at_any_rank() -> None:
    ranks = local_ranks(np.array([9.0, 1.0, math.nan]), np.array([0, 1, 3]))
    assert np.isnan(ranks).all()
    assert not select_local(ranks, 100.0).any()


def test_a_rank_equal_to_r_max_is_not_selected() -> None:
    ranks = local_ranks(np.array([3.0, 1.0, 2.0]), np.array([0, 3]))
    assert ranks.tolist() == [0.0, 100.0, 50.0]
    assert select_local(ranks, 50.0).tolist() == [True, False, False]
    assert select_local(ranks, 50.1).tolist() == [True, False, True]


def test_a_score_equal_to_tau_is_selected_and_an_invalid_one_never() -> None:
    scores = np.array([3.9, math.nextafter(3.9, 0.0), math.nan])
    assert select_global(scores, 3.9).tolist() == [True, False, False]
    assert select_global(scores, -math.inf).tolist() == [True, True, False]


def test_thresholds_that_are_none_are_refused() -> None:
    with pytest.raises(ValueError, match="tau is NaN"):
        select_global(np.zeros(1), math.nan)
    for r_max in (math.nan, 100.5):
        with pytest.raises(ValueError, match=f"r_max is {r_max}"):
            select_local(np.zeros(1), r_max)
    with pytest.raises(ValueError, match="0 neighbours"):
        local_ranks(np.zeros(1), np.array([0, 1]), 0)
    with pytest.raises(ValueError, match="a consensus of 0 windows"):
        consensus(fixed_windows(np.array([0, 1]), 1), np.ones(1, dtype=np.bool_), 0, 1)


@given(rows=records(), width=st.integers(1, 5), votes=st.integers(1, 5))
@settings(max_examples=150, deadline=None)
def test_a_token_is_masked_by_as_many_selected_windows_as_asked(
    rows: list[list[float]], width: int, votes: int
) -> None:
    windows = fixed_windows(offsets(rows), width)
    selected = [[naive.mean(row, window) >= 0.5 for window in naive.fixed(len(row), width)] for row in rows]
    expected = [
        naive.masked(len(row), naive.fixed(len(row), width), chosen, votes)
        for row, chosen in zip(rows, selected, strict=True)
    ]
    mask = consensus(windows, booleans(selected), votes, int(offsets(rows)[-1]))
    assert mask.tolist() == booleans(expected).tolist()


def test_windows_of_any_width_vote() -> None:
    windows = Windows(np.array([0, 2, 1]), np.array([4, 3, 6]), np.array([0, 3]))
    every = np.ones(3, dtype=np.bool_)
    assert consensus(windows, every, 2, 7).tolist() == [False, True, True, True, False, False, False]
    assert consensus(windows, every, 3, 7).tolist() == [False, False, True, False, False, False, False]


def test_a_consensus_of_four_of_four_never_masks_the_first_and_the_last_three_tokens() -> None:
    windows = fixed_windows(np.array([0, 12]), 4)
    mask = consensus(windows, np.ones(9, dtype=np.bool_), 4, 12)
    assert mask.tolist() == [False] * 3 + [True] * 6 + [False] * 3
