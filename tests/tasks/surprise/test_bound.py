import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.bound import NoBound, generation_bound
from tasks.surprise.procedure import FixedWindows, Procedure, Propagation, TextWindows, TopScore
from tasks.surprise.rules import GlobalRule, LocalRule
from tests.tasks.surprise.batches import batch_of

PLAIN = Procedure(windows=FixedWindows(width=4), rule=GlobalRule())


def test_the_bound_of_six_tokens_in_windows_of_four_counts_two_windows() -> None:
    bound = generation_bound(PLAIN, 0.5, 6)
    assert bound.log_probability == -4 * 0.5 * 2
    assert bound.probability == pytest.approx(math.exp(-4.0), rel=1e-15)
    assert bound.expected_samples == pytest.approx(math.exp(4.0), rel=1e-15)


@given(
    nll=st.lists(st.floats(0.0, 4.0), min_size=1, max_size=25),
    ids=st.lists(st.integers(0, 2), min_size=25, max_size=25),
    width=st.integers(1, 5),
    tau=st.floats(0.05, 3.0),
    spread=st.booleans(),
)
@settings(max_examples=200, deadline=None)
def test_no_span_left_unmasked_is_less_likely_than_the_bound(
    nll: list[float], ids: list[int], width: int, tau: float, spread: bool
) -> None:
    procedure = Procedure(
        windows=FixedWindows(width=width), rule=GlobalRule(), propagation=Propagation(width=width) if spread else None
    )
    mask = procedure.mask(batch_of([nll], [ids[: len(nll)]]), tau)
    for start in range(len(nll)):
        for stop in range(start + width, len(nll) + 1):
            if not mask[start:stop].any():
                bound = generation_bound(procedure, tau, stop - start)
                assert -math.fsum(nll[start:stop]) >= bound.log_probability - 1e-9


def test_a_bound_too_small_for_a_float_says_infinitely_many_samples() -> None:
    bound = generation_bound(PLAIN, 5.0, 400)
    assert (bound.log_probability, bound.probability, bound.expected_samples) == (-2000.0, 0.0, math.inf)


@pytest.mark.parametrize(
    ("procedure", "unprompted", "reason"),
    [
        (Procedure(windows=FixedWindows(width=4), rule=LocalRule()), True, "the rule is local, not global"),
        (Procedure(windows=FixedWindows(width=4), rule=GlobalRule(), consensus=2), True, "a consensus of 2 windows"),
        (Procedure(windows=TextWindows(kind="lines"), rule=GlobalRule()), True, "not for lines"),
        (Procedure(windows=FixedWindows(width=4), score=TopScore(), rule=GlobalRule()), True, "the score is top"),
        (PLAIN, False, "prompted or a contrast"),
    ],
)
def test_where_the_proof_does_not_hold_no_bound_is_stated(procedure: Procedure, unprompted: bool, reason: str) -> None:
    with pytest.raises(NoBound, match=reason):
        generation_bound(procedure, 1.0, 8, unprompted=unprompted)


def test_spans_shorter_than_a_window_and_thresholds_of_zero_are_refused() -> None:
    with pytest.raises(ValueError, match="a span of 3 tokens holds no window of 4"):
        generation_bound(PLAIN, 1.0, 3)
    for tau in (0.0, -1.0, math.inf, math.nan):
        with pytest.raises(ValueError, match="positive finite threshold"):
            generation_bound(PLAIN, tau, 8)


def test_a_span_just_below_the_threshold_attains_the_bound() -> None:
    tau = float(np.nextafter(0.5, 1.0))
    assert not PLAIN.mask(batch_of([[0.5] * 8]), tau).any()
    assert generation_bound(PLAIN, tau, 8).log_probability == pytest.approx(-8 * 0.5, rel=1e-15)
