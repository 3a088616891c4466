"""A method on data it was not calibrated on, with its ROC curves on both (SM Figures 5 and 6)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from tasks.surprise.baselines.methods import Material, Method
from tasks.surprise.calibrate import Goal, NoPoint, calibrate
from tasks.surprise.curve import Curve, trade_off
from tasks.surprise.evaluation.distribution import distribution
from tasks.surprise.evaluation.results import Result, auroc_of, result_of
from tasks.surprise.policy import Unit


@dataclass(frozen=True, eq=False)
class Compared:
    """A method's row, and the curves behind it.

    Attributes:
        result: at the threshold.
        curve: of the data it is judged on.
        validation: of the data its threshold comes from; None where those were not given.
    """

    result: Result
    curve: Curve
    validation: Curve | None

    def json(self) -> dict[str, Any]:
        """All figures for a program, unrounded."""
        before = self.validation if self.result.threshold is not None else None  # a fixed method has nothing to sweep
        return self.result.json() | {"validation_auroc": None if before is None else auroc_of(before)}


def compared(
    method: Method,
    corpus: Iterable[Material],
    unit: Unit,
    *,
    threshold: float | None,
    goal: Goal,
    validation: Iterable[Material] | None,
    in_documents: bool,
) -> Compared:
    """Judge a method.

    Args:
        method: to be judged.
        corpus: labelled documents to judge it on, piece by piece with whole groups.
        unit: what is counted.
        threshold: of a graded method; None to choose it for ``goal`` on the validation data.
        goal: see there.
        validation: labelled documents that thresholds come from.
        in_documents: see ``Distribution``.

    Raises:
        ValueError: a graded method has neither a threshold nor validation data, or no threshold on them is acceptable.
    """
    counted = distribution(method, corpus, unit, in_documents=in_documents)
    before = None
    if validation is not None:
        before = trade_off(distribution(method, validation, unit).overall)
    if method.rule is not None and threshold is None:
        if before is None:
            raise ValueError(f"{method.name} has no threshold yet: give labelled scores to choose it on, --validation")
        point = calibrate(before, method.rule, goal)
        if isinstance(point, NoPoint):
            raise ValueError(f"{method.name}: no threshold on the validation data: {point.reason}")
        threshold = point.threshold
    result = result_of(method.name, counted, method.rule, threshold)
    return Compared(result, trade_off(counted.overall), before)
