"""How sure a figure is: percentile intervals over records drawn again and again, with replacement."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

RESAMPLES = 1000
CONFIDENCE = 0.95

F64 = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Rate:
    """A share, as a fraction of one, and the 95 % interval around it; None where there is nothing to count.

    Attributes:
        of: what it is a share of: attributes, or records.
    """

    value: float | None
    low: float | None
    high: float | None
    of: int


def rates(numerators_NK: F64, denominators_NK: F64, seed: int) -> list[Rate]:
    """Return K ratios of sums over N records, each with its bootstrap interval.

        value[k] = sum_n numerators[n,k] / sum_n denominators[n,k]

    All K are taken from the same draws of records, so that figures of one set can be compared.

    Args:
        numerators_NK: what counts as a success, by record and figure.
        denominators_NK: out of how much.
        seed: of the draws.

    Raises:
        ValueError: the shapes differ.
    """
    if numerators_NK.shape != denominators_NK.shape:
        raise ValueError(f"numerators {numerators_NK.shape}, denominators {denominators_NK.shape}: must be alike")
    records, figures = numerators_NK.shape
    totals_K = denominators_NK.sum(axis=0)
    values_K = _ratio(numerators_NK.sum(axis=0), totals_K)
    draw = np.random.default_rng(seed)
    drawn_BK = np.full((RESAMPLES, figures), np.nan)
    for resample in range(RESAMPLES if records else 0):
        weights_N = np.bincount(draw.integers(records, size=records), minlength=records).astype(np.float64)
        drawn_BK[resample] = _ratio(weights_N @ numerators_NK, weights_N @ denominators_NK)
    return [_rate(float(values_K[k]), drawn_BK[:, k], int(totals_K[k])) for k in range(figures)]


def _ratio(numerator_K: F64, denominator_K: F64) -> F64:
    ratio_K = np.full(numerator_K.shape, np.nan)
    np.divide(numerator_K, denominator_K, out=ratio_K, where=denominator_K > 0)
    return ratio_K


def _rate(value: float, drawn_B: F64, of: int) -> Rate:
    if np.isnan(value):
        return Rate(None, None, None, of)
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(drawn_B[~np.isnan(drawn_B)], [tail, 1 - tail])
    return Rate(value, float(low), float(high), of)
