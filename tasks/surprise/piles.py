"""Units counted by level: all that thresholds, curves and figures depend on, in any number of pieces of a data set."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from tasks.surprise.metrics import Counts
from tasks.surprise.rows import F64, I64, Bool, check_sizes
from tasks.surprise.rules import Rule


@dataclass(frozen=True, eq=False)
class Piles:
    """How many targets and how many others have each of P levels; a unit itself is forgotten.

    Attributes:
        levels: distinct, rising; -inf is for units that no threshold masks, shape (P,).
        targets: of each level, shape (P,).
        others: of each level, shape (P,).
    """

    levels: F64
    targets: I64
    others: I64

    @classmethod
    def of(cls, levels: F64, target: Bool) -> Self:
        """Count units.

        Args:
            levels: of U units, shape (U,), without NaN.
            target: which are targets, shape (U,).
        """
        check_sizes("units", levels.size, {"targets": target.size})
        distinct, at = np.unique(levels, return_inverse=True)
        hits = np.bincount(at[target], minlength=distinct.size)
        return cls(distinct, hits, np.bincount(at, minlength=distinct.size) - hits)

    @classmethod
    def joined(cls, parts: Iterable["Piles"]) -> Self:
        """Pool the units of several."""
        none = np.empty(0, dtype=np.int64)
        held: list[Piles] = [cls(np.empty(0), none, none), *parts]
        levels = np.concatenate([part.levels for part in held])
        order = np.argsort(levels, kind="stable")
        levels = levels[order]
        first = np.flatnonzero(np.append(True, levels[1:] != levels[:-1])[: levels.size])
        if first.size == 0:
            return cls(np.empty(0), none, none)
        targets, others = (
            np.add.reduceat(np.concatenate(counts)[order], first)
            for counts in ([part.targets for part in held], [part.others for part in held])
        )
        return cls(levels[first], targets, others)

    def without_targets(self) -> "Piles":
        """Give the others alone."""
        kept = self.others > 0
        return Piles(self.levels[kept], np.zeros(int(kept.sum()), dtype=np.int64), self.others[kept])

    def counts(self, rule: Rule | None, threshold: float | None) -> Counts:
        """Count what is masked: by ``rule`` at its threshold, or, of a fixed method, whatever has a level.

        Raises:
            ValueError: a rule comes without a threshold.
        """
        if rule is None:
            masked = self.levels > -np.inf
        elif threshold is None:
            raise ValueError("a graded method needs its threshold: calibrate it first")
        else:
            masked = rule.reached(self.levels, threshold)
        hits, collateral = int(self.targets[masked].sum()), int(self.others[masked].sum())
        return Counts(
            true_positives=hits,
            false_positives=collateral,
            false_negatives=int(self.targets.sum()) - hits,
            true_negatives=int(self.others.sum()) - collateral,
        )
