import math

import numpy as np
import pytest

from tasks.surprise.baselines.loss import Rho1, SelectiveTokenMasking, highest_excess
from tasks.surprise.baselines.methods import AtThreshold, SurpriseMasking, is_masked
from tasks.surprise.procedure import FixedWindows, Procedure
from tasks.surprise.rules import GlobalRule
from tests.tasks.surprise.baselines.materials import material_of

WORDS = [["a", "b", "c", "d", "e"]]


def test_stm_masks_tokens_of_perplexity_above_the_limit_and_keeps_one_at_it() -> None:
    limit = math.log(2.5)
    scores = [limit, math.nextafter(limit, 9), 0.0, math.nan, math.inf]
    masked = is_masked(SelectiveTokenMasking().levels(material_of(WORDS, scores=scores)).levels)
    assert masked.tolist() == [False, True, False, False, False]


def test_stm_is_surprise_masking_of_one_token_but_for_ties() -> None:
    scores = np.random.default_rng(0).exponential(size=5).tolist()
    material = material_of(WORDS, scores=scores)
    one = SurpriseMasking(Procedure(windows=FixedWindows(width=1), rule=GlobalRule()))
    assert np.array_equal(
        SelectiveTokenMasking().levels(material).levels > 0,
        AtThreshold(one, math.log(2.5)).levels(material).levels > 0,
    )


def test_stm_refuses_a_perplexity_below_one() -> None:
    with pytest.raises(ValueError, match=r"perplexity of 0\.5"):
        SelectiveTokenMasking(perplexity=0.5)


def test_rho_1_trains_on_the_highest_excess_loss() -> None:
    learner, reference = np.array([3.0, 2.0, 5.0, 1.0, 4.0]), [1.0, 1.5, 4.5, 2.0, 1.0]  # excess 2, .5, .5, -1, 3
    material = material_of(WORDS, scores=reference, learner=learner)
    masks = {keep: is_masked(Rho1(keep=keep).levels(material).levels).tolist() for keep in (0.2, 0.6, 1.0)}
    assert masks[0.2] == [True, True, True, True, False]
    assert masks[0.6] == [False, False, True, True, False]  # of the two equal ones the earlier is kept
    assert masks[1.0] == [False] * 5


def test_the_share_is_of_supervised_tokens_with_both_losses() -> None:
    learner, reference = np.array([9.0, np.nan, 1.0, 2.0]), np.array([0.0, 0.0, 0.0, 0.0])
    supervised = np.array([False, True, True, True])
    assert highest_excess(learner, reference, supervised, 0.5).tolist() == [False, False, False, True]
    material = material_of([["a", "b", "c", "d"]], supervised=[[(1, 4)]], learner=learner)
    assert is_masked(Rho1(keep=0.5).levels(material).levels).tolist() == [False, False, True, False]


@pytest.mark.parametrize(("keep", "size", "kept"), [(0.5, 5, 3), (0.1, 30, 3), (0.01, 5, 1), (1.0, 7, 7), (0.6, 0, 0)])
def test_the_share_is_rounded_up(keep: float, size: int, kept: int) -> None:
    excess = np.arange(size, dtype=np.float64)
    assert highest_excess(excess, np.zeros(size), np.ones(size, dtype=np.bool_), keep).sum() == kept


def test_rho_1_asks_for_the_second_model() -> None:
    with pytest.raises(ValueError, match="losses of the one that is trained"):
        Rho1().levels(material_of(WORDS))
    with pytest.raises(ValueError, match="share of 0"):
        Rho1(keep=0)
