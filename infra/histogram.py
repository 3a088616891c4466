"""Histograms with fixed bounds: one that grows, and what it has counted as frozen data that can be added up."""

from bisect import bisect_left

from pydantic import BaseModel, ConfigDict

SECONDS = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 20.0, 40.0, 80.0, 160.0, 320.0)
TOKENS = (16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0, 2048.0, 4096.0, 8192.0, 16384.0, 32768.0)


class Spread(BaseModel):
    """A histogram: how many values fell up to each bound, above the one before, and one more for what is larger."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    counts: tuple[int, ...]
    total: float

    @property
    def count(self) -> int:
        """How many values."""
        return sum(self.counts)

    @property
    def mean(self) -> float:
        """Their mean; 0 of none."""
        return self.total / self.count if self.count else 0.0

    def __add__(self, other: "Spread") -> "Spread":
        """Put two together."""
        counts = tuple(one + another for one, another in zip(self.counts, other.counts, strict=True))
        return Spread(counts=counts, total=self.total + other.total)

    def quantile(self, share: float, bounds: tuple[float, ...]) -> float:
        """Return about the value that ``share`` of all are not above, from the bucket it is in; 0 of none.

        Within a bucket values count as spread evenly; what is larger than the last bound counts as that.
        """
        left = share * self.count
        for place, count in enumerate(self.counts[:-1]):
            if count and left <= count:
                below = bounds[place - 1] if place else 0.0
                return below + (bounds[place] - below) * left / count
            left -= count
        return bounds[-1] if self.count else 0.0


class Histogram:
    """A histogram that grows: three hundred nanoseconds a value."""

    __slots__ = ("_bounds", "_counts", "_total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self._bounds = bounds
        self._counts = [0] * (len(bounds) + 1)
        self._total = 0.0

    def add(self, value: float) -> None:
        """Count a value."""
        self._counts[bisect_left(self._bounds, value)] += 1
        self._total += value

    def spread(self) -> Spread:
        """Return what it has counted."""
        return Spread(counts=tuple(self._counts), total=self._total)
