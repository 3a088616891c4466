from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.measuring.proportions import Proportion, at_least_once


def test_wilson_intervals_are_those_of_the_literature() -> None:
    # Newcombe (1998), Table I, method 3: 81 of 263 and 15 of 148.
    one, other = Proportion.counted(81, 263), Proportion.counted(15, 148)
    assert (one.low, one.high) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert (other.low, other.high) == pytest.approx((0.0624, 0.1605), abs=5e-5)


def test_the_ends_are_exact() -> None:
    none, every = Proportion.counted(0, 20), Proportion.counted(20, 20)
    assert (none.value, none.low, every.value, every.high) == (0.0, 0.0, 1.0, 1.0)
    assert none.high == pytest.approx(0.1611, abs=5e-5)  # Newcombe's, method 3
    assert Proportion.counted(0, 0) == Proportion(0, 0, None, None, None)


def test_more_than_all_cannot_be_counted() -> None:
    with pytest.raises(ValueError, match="3 out of 2"):
        Proportion.counted(3, 2)


@given(st.integers(1, 8), st.data())
@settings(max_examples=40, deadline=None)
def test_the_chance_of_one_success_is_that_of_all_subsets(tries: int, data: st.DataObject) -> None:
    successes, budget = data.draw(st.integers(0, tries)), data.draw(st.integers(1, tries))
    subsets = [min(chosen) < successes for chosen in combinations(range(tries), budget)]
    assert at_least_once(tries, successes, budget) == pytest.approx(sum(subsets) / len(subsets))


def test_no_more_tries_than_there_were_can_be_taken() -> None:
    with pytest.raises(ValueError, match="6 of them"):
        at_least_once(5, 1, 6)
