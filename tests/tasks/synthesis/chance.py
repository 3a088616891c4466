"""Whether counts look drawn by given shares: Pearson's test, for the statistical tests of this folder."""

import math
from collections.abc import Sequence

_Z_999 = 3.0902  # standard normal quantile of 0.999


def fit(counts: Sequence[int], shares: Sequence[float]) -> bool:
    """Accept counts that arise by chance in 999 of 1000 samples drawn with ``shares``, which need not add up to 1."""
    scale = sum(counts) / sum(shares)
    expected = [share * scale for share in shares]
    statistic = sum((count - mean) ** 2 / mean for count, mean in zip(counts, expected, strict=True))
    freedom = len(counts) - 1
    root: float = 1 - 2 / (9 * freedom) + _Z_999 * math.sqrt(2 / (9 * freedom))  # Wilson and Hilferty
    return statistic < freedom * root**3
