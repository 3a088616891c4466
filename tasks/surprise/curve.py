"""The trade-off between target recall and collateral over all thresholds at once."""

from dataclasses import dataclass

import numpy as np

from tasks.surprise.metrics import Counts
from tasks.surprise.piles import Piles
from tasks.surprise.rows import F64, I64


@dataclass(frozen=True, eq=False)
class Curve:
    """Counts at each distinct level, from the highest down: point p masks all units of level ``levels[p]`` or above.

    These are all masks that any threshold makes, but for masking nothing.
    """

    levels: F64  # (P,), falling, finite
    true_positives: I64  # (P,)
    false_positives: I64  # (P,)
    targets: int
    others: int

    @property
    def tpr(self) -> F64:
        """Target recall at each point, shape (P,)."""
        return self.true_positives / _at_least_one(self.targets, "targets: recall")

    @property
    def fpr(self) -> F64:
        """Collateral at each point, shape (P,)."""
        return self.false_positives / _at_least_one(self.others, "units that are no targets: collateral")

    @property
    def f1(self) -> F64:
        """F1 at each point, shape (P,)."""
        return 2 * self.true_positives / (self.true_positives + self.false_positives + self.targets)

    @property
    def auroc(self) -> float:
        """How often a random target has a higher level than a random other unit, ties one half (SM B.4).

        Units that no threshold masks are tied below all others. Added up in whole numbers.

        Raises:
            ValueError: there are no targets or no others.
        """
        pairs = _at_least_one(self.targets, "targets: AUROC") * _at_least_one(self.others, "others: AUROC")
        above = np.concatenate([[0], self.true_positives, [self.targets]])
        tied = np.diff(np.concatenate([[0], self.false_positives, [self.others]]))
        return int(np.sum(tied * (above[:-1] + above[1:]))) / (2 * pairs)

    def counts(self, point: int) -> Counts:
        """Give the counts of a point."""
        hits, collateral = int(self.true_positives[point]), int(self.false_positives[point])
        return Counts(
            true_positives=hits,
            false_positives=collateral,
            false_negatives=self.targets - hits,
            true_negatives=self.others - collateral,
        )


def trade_off(piles: Piles) -> Curve:
    """Sweep the threshold over the units' levels."""
    falling = slice(None, None, -1)
    finite = piles.levels > -np.inf
    hits, collateral = (counts[finite][falling] for counts in (piles.targets, piles.others))
    return Curve(
        piles.levels[finite][falling],
        np.cumsum(hits),
        np.cumsum(collateral),
        int(piles.targets.sum()),
        int(piles.others.sum()),
    )


@dataclass(frozen=True, eq=False)
class Histograms:
    """Levels of targets and of other units in the same bins."""

    edges: F64  # (bins + 1,)
    targets: I64  # (bins,)
    others: I64  # (bins,)
    targets_never_masked: int
    others_never_masked: int


def histograms(piles: Piles, bins: int) -> Histograms:
    """Count levels in ``bins`` bins of one width from the least to the greatest finite level.

    Raises:
        ValueError: no unit has a finite level.
    """
    finite = piles.levels > -np.inf
    if not finite.any():
        raise ValueError("no unit has a finite level: there is nothing to draw")
    levels = piles.levels[finite]
    edges = np.histogram_bin_edges(levels, bins)
    targets, others = (
        np.histogram(levels, edges, weights=counts[finite])[0] for counts in (piles.targets, piles.others)
    )
    return Histograms(edges, targets, others, int(piles.targets[~finite].sum()), int(piles.others[~finite].sum()))


def _at_least_one(number: int, what: str) -> int:
    if number == 0:
        raise ValueError(f"there are no {what} is not defined")
    return number
