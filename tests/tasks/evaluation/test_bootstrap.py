import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.evaluation.bootstrap import rates


def test_a_ratio_of_sums_is_not_a_mean_of_ratios() -> None:
    (rate,) = rates(np.array([[1.0], [0.0]]), np.array([[1.0], [3.0]]), 0)
    assert (rate.value, rate.of) == (0.25, 4)


def test_the_interval_is_that_of_the_binomial_where_every_record_counts_once() -> None:
    successes = np.array([1.0] * 240 + [0.0] * 160).reshape(-1, 1)
    (rate,) = rates(successes, np.ones_like(successes), 1)
    half = 1.96 * np.sqrt(0.6 * 0.4 / 400)  # 0.048
    assert rate.value == 0.6
    assert rate.low == pytest.approx(0.6 - half, abs=0.008)
    assert rate.high == pytest.approx(0.6 + half, abs=0.008)


def test_attributes_of_one_record_are_drawn_together() -> None:
    spread = {}
    for records, each in ((100, 1), (10, 10)):
        total = np.full((records, 1), float(each))
        succeeded = total * (np.arange(records).reshape(-1, 1) % 2)
        (rate,) = rates(succeeded, total, 0)
        assert rate.value == 0.5
        assert rate.low is not None
        spread[records] = 0.5 - rate.low
    assert spread[10] > 2 * spread[100]  # ten records that succeed or fail as a whole tell less than a hundred


def test_the_same_seed_gives_the_same_interval_and_nothing_has_none() -> None:
    of = np.ones((20, 1))
    assert rates(of * 0.5, of, 3) == rates(of * 0.5, of, 3)
    (empty,) = rates(np.zeros((2, 1)), np.zeros((2, 1)), 0)
    assert (empty.value, empty.low, empty.high) == (None, None, None)
    assert rates(np.zeros((0, 2)), np.zeros((0, 2)), 0)[1].value is None
    with pytest.raises(ValueError, match="must be alike"):
        rates(np.zeros((2, 1)), np.zeros((2, 2)), 0)


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=1, max_size=12))
@settings(max_examples=20, deadline=None)
def test_an_interval_lies_within_what_can_be(counts: list[tuple[int, int]]) -> None:
    succeeded = np.array([[float(min(pair))] for pair in counts])
    total = np.array([[float(max(pair))] for pair in counts])
    (rate,) = rates(succeeded, total, 0)
    if rate.value is not None:
        assert rate.low is not None
        assert rate.high is not None
        assert 0 <= rate.low <= rate.high <= 1
        assert 0 <= rate.value <= 1
