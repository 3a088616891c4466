"""Means, standard errors and correlations against arithmetic and numpy."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.masking_study.statistics import Mean, mean, pearson

NUMBERS = st.floats(-1e3, 1e3, allow_nan=False)


def test_the_standard_error_of_three_seeds_by_hand() -> None:
    # Deviations -1, 0, 1: variance 2 / 2 = 1, over three seeds 1/3.
    assert mean([1.0, 2.0, 3.0]) == Mean(2.0, math.sqrt(1 / 3), 3)


def test_one_value_has_no_error_and_no_value_has_no_mean() -> None:
    assert mean([0.4]) == Mean(0.4, None, 1)
    assert mean([]) is None


@given(st.lists(NUMBERS, min_size=2, max_size=9))
@settings(max_examples=40, deadline=None)
def test_the_standard_error_is_numpys(values: list[float]) -> None:
    found = mean(values)
    assert found is not None
    assert found.standard_error == pytest.approx(np.std(values, ddof=1) / math.sqrt(len(values)), abs=1e-9)


def test_correlations_by_hand() -> None:
    assert pearson([0.0, 1.0, 2.0], [5.0, 3.0, 1.0]) == pytest.approx(-1.0)
    # dx = -1, 0, 1 and dy = -1, 2, -1: the products cancel out.
    assert pearson([0.0, 1.0, 2.0], [1.0, 4.0, 1.0]) == pytest.approx(0.0)
    assert pearson([0, 1, 2, 3], [0, 1, 4, 9]) == pytest.approx(float(np.corrcoef([0, 1, 2, 3], [0, 1, 4, 9])[0, 1]))


def test_two_pairs_or_a_constant_side_have_no_correlation() -> None:
    assert pearson([0.0, 1.0], [0.0, 1.0]) is None
    assert pearson([1.0, 1.0, 1.0], [0.0, 1.0, 2.0]) is None


def test_sides_of_different_length_are_refused() -> None:
    with pytest.raises(ValueError, match="3 and 2 values"):
        pearson([0.0, 1.0, 2.0], [0.0, 1.0])
