"""One score from several: each standardised as on the validation part, then averaged (SM D.4)."""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tasks.surprise.rows import F64, check_sizes


class Feature(BaseModel):
    """A score with its mean and standard deviation on the validation part."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    name: str = Field(min_length=1, description="what the score is called among a batch's features")
    mean: float = Field(description="over the finite validation scores")
    deviation: float = Field(gt=0, description="standard deviation of those scores themselves (divisor: their number)")


class Combination(BaseModel):
    """Features that are averaged with equal weight, their parameters frozen."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    features: tuple[Feature, ...] = Field(min_length=1, description="scores to average")

    @classmethod
    def fit(cls, validation: Iterable[Mapping[str, F64]]) -> Self:
        """Take mean and deviation of each feature from validation scores; NaN (invalid) is left out.

        Args:
            validation: piece by piece the scores of each feature, shape (W,) each.

        Raises:
            ValueError: a feature has no two different finite scores.
        """
        moments: dict[str, _Moments] = {}
        for scores in validation:
            for name, values in scores.items():
                found = _Moments.of(values[np.isfinite(values)])
                moments[name] = moments[name].joined(found) if name in moments else found
        return cls(features=tuple(_fitted(name, found) for name, found in moments.items()))

    def apply(self, features: Mapping[str, F64], size: int) -> F64:
        """Combine the scores of ``size`` windows.

            s_i = 1/F * sum over f of (x_fi - mean_f) / deviation_f

        Args:
            features: at least those of this combination, shape (W,) each.
            size: W.

        Returns:
            Shape (W,); NaN where one of the features is not finite.

        Raises:
            ValueError: a feature is missing or of another size.
        """
        total = np.zeros(size)
        for feature in self.features:
            if feature.name not in features:
                raise ValueError(f"feature {feature.name!r} is missing: the batch has {sorted(features)}")
            scores = features[feature.name]
            check_sizes("windows", size, {f"feature {feature.name!r}": scores.size})
            total += np.where(np.isfinite(scores), (scores - feature.mean) / feature.deviation, np.nan)
        return np.asarray(total / len(self.features))


@dataclass(frozen=True, slots=True)
class _Moments:
    """Number, mean and squared deviations of some scores, which two sets of them can be pooled from."""

    size: int
    mean: float
    squares: float

    @classmethod
    def of(cls, values: F64) -> Self:
        if values.size == 0:
            return cls(0, 0.0, 0.0)
        mean = math.fsum(values) / values.size
        return cls(values.size, mean, float(np.square(values - mean).sum()) if values.min() < values.max() else 0.0)

    def joined(self, other: "_Moments") -> "_Moments":
        size = self.size + other.size
        if not (self.size and other.size):
            return self if self.size else other
        apart, share = other.mean - self.mean, other.size / size
        return _Moments(
            size, self.mean + apart * share, self.squares + other.squares + apart * apart * self.size * share
        )


def _fitted(name: str, found: _Moments) -> Feature:
    if found.squares == 0:
        raise ValueError(f"feature {name!r} has {found.size} finite scores and no spread: it cannot be standardised")
    return Feature(name=name, mean=found.mean, deviation=math.sqrt(found.squares / found.size))
