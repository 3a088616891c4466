"""What a method achieves on labelled data: pooled counts, AUROC, and the same of each category."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tasks.surprise.calibrate import BestF1, NoPoint, Point, TargetRecall, calibrate
from tasks.surprise.curve import Curve, trade_off
from tasks.surprise.evaluation.distribution import Distribution
from tasks.surprise.metrics import Counts
from tasks.surprise.rules import Rule

RECALLS = (0.5, 0.7, 0.9, 0.95)  # SM50 to SM95


@dataclass(frozen=True, slots=True)
class Figures:
    """What is said of one set of units.

    Attributes:
        counts: at the method's threshold.
        auroc: over all thresholds; None of a fixed method, and where there are no targets or nothing else.
    """

    counts: Counts
    auroc: float | None

    def json(self) -> dict[str, Any]:
        """All figures for a program, unrounded."""
        counts = self.counts
        return {
            **counts.model_dump(),
            "recall": counts.tpr,
            "collateral": counts.fpr,
            "precision": counts.precision,
            "f1": counts.f1,
            "mask_everything_f1": counts.mask_everything_f1,
            "masked_share": counts.masked_share,
            "auroc": self.auroc,
        }


@dataclass(frozen=True, slots=True)
class Result:
    """One method's row of a table.

    Attributes:
        method: its name.
        threshold: None of a fixed method.
        overall: counts pooled over all units.
        categories: each category by itself; other categories' units are left out.
    """

    method: str
    threshold: float | None
    overall: Figures
    categories: Mapping[str, Figures]

    def json(self) -> dict[str, Any]:
        """All figures for a program, unrounded."""
        return {
            "method": self.method,
            "threshold": self.threshold,
            **self.overall.json(),
            "categories": {name: figures.json() for name, figures in self.categories.items()},
        }


def result_of(method: str, counted: Distribution, rule: Rule | None, threshold: float | None) -> Result:
    """Judge a method by its units.

    Args:
        method: its name.
        counted: its units by level.
        rule: how a threshold meets the levels; None of a fixed method, which masks whatever has a level.
        threshold: of that rule.

    Raises:
        ValueError: a rule comes without a threshold.
    """
    graded = rule is not None
    aurocs = counted.aurocs() if graded else {}
    return Result(
        method,
        threshold,
        Figures(counted.overall.counts(rule, threshold), auroc_of(trade_off(counted.overall)) if graded else None),
        {
            name: Figures(counted.of_category(name).counts(rule, threshold), aurocs.get(name))
            for name in counted.categories
        },
    )


def auroc_of(curve: Curve) -> float | None:
    """AUROC, or None where there are no targets or nothing else."""
    return curve.auroc if curve.targets and curve.others else None


@dataclass(frozen=True, slots=True)
class Operating:
    """A named threshold of a validation curve, or why there is none."""

    name: str
    point: Point | NoPoint


def operating_points(curve: Curve, rule: Rule) -> list[Operating]:
    """Thresholds for target recalls of 50 to 95 % and for the best F1: the rows of a calibration table."""
    named = [(f"SM{recall * 100:.0f}", TargetRecall(recall=recall)) for recall in RECALLS]
    return [
        *(Operating(name, calibrate(curve, rule, goal)) for name, goal in named),
        Operating("best F1", calibrate(curve, rule, BestF1())),
    ]
