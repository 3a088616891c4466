import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.metrics import Counts
from tasks.surprise.piles import Piles
from tasks.surprise.rules import GlobalRule, LocalRule

UNITS = st.lists(st.tuples(st.sampled_from([-math.inf, -3.0, 0.0, 0.1, 2.5]), st.booleans()), max_size=12)


def piles(units: list[tuple[float, bool]]) -> Piles:
    return Piles.of(np.array([level for level, _ in units]), np.array([target for _, target in units], dtype=np.bool_))


@given(UNITS, st.sampled_from([-3.0, 0.0, 1.0, 9.0]))
@settings(max_examples=80, deadline=None)
def test_counts_are_those_of_a_walk_over_the_units(units: list[tuple[float, bool]], tau: float) -> None:
    kinds = [(level >= tau, target) for level, target in units]
    expected = [kinds.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))]
    names = ("true_positives", "false_positives", "false_negatives", "true_negatives")
    assert piles(units).counts(GlobalRule(), tau) == Counts(**dict(zip(names, expected, strict=True)))


@given(st.lists(UNITS, max_size=4))
@settings(max_examples=80, deadline=None)
def test_pieces_add_up_to_the_whole(parts: list[list[tuple[float, bool]]]) -> None:
    joined, whole = Piles.joined(map(piles, parts)), piles([unit for part in parts for unit in part])
    assert joined.levels.tolist() == whole.levels.tolist() == sorted(set(whole.levels.tolist()))
    assert (joined.targets.tolist(), joined.others.tolist()) == (whole.targets.tolist(), whole.others.tolist())


def test_a_fixed_method_masks_whatever_has_a_level_and_a_graded_one_needs_its_threshold() -> None:
    found = piles([(1.0, True), (-math.inf, True), (1.0, False), (-math.inf, False)])
    assert found.counts(None, None) == Counts(true_positives=1, false_positives=1, false_negatives=1, true_negatives=1)
    assert piles([(-20.0, True), (-90.0, False)]).counts(LocalRule(), 30.0).false_positives == 0
    with pytest.raises(ValueError, match="calibrate it first"):
        found.counts(GlobalRule(), None)


def test_units_and_targets_of_other_sizes_are_refused() -> None:
    with pytest.raises(ValueError, match="targets has 1 elements, but there are 2 units"):
        Piles.of(np.zeros(2), np.zeros(1, dtype=np.bool_))
