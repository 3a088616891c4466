"""Means over training seeds with their standard errors, and correlations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of ``n`` values.

    Attributes:
        value: the mean.
        standard_error: of it; None for a single value.
        n: how many.
    """

    value: float
    standard_error: float | None
    n: int


def mean(values: Sequence[float]) -> Mean | None:
    """Return the mean, None of nothing.

    SE = sqrt( sum_i (x_i - mean)^2 / (n - 1) ) / sqrt(n)
    """
    if not values:
        return None
    n = len(values)
    middle = math.fsum(values) / n
    if n == 1:
        return Mean(middle, None, 1)
    spread = math.fsum((each - middle) ** 2 for each in values)
    return Mean(middle, math.sqrt(spread / (n - 1) / n), n)


def pearson(xs: Sequence[float], ys: Sequence[float]) -> float | None:
    """Return Pearson's correlation; None for fewer than three pairs, or where one side is constant.

    Raises:
        ValueError: the sides differ in length.
    """
    if len(xs) != len(ys):
        raise ValueError(f"{len(xs)} and {len(ys)} values: a correlation needs pairs")
    if len(xs) < 3:
        return None
    x_mean, y_mean = math.fsum(xs) / len(xs), math.fsum(ys) / len(ys)
    dx, dy = [x - x_mean for x in xs], [y - y_mean for y in ys]
    scale = math.sqrt(math.fsum(x * x for x in dx) * math.fsum(y * y for y in dy))
    return math.fsum(x * y for x, y in zip(dx, dy, strict=True)) / scale if scale else None
