"""Two thresholds chosen together: all pairs of a grid, counted at once (SM App. F.1, Table 14)."""

import numpy as np

from tasks.surprise.baselines.combined import Intersection, Union
from tasks.surprise.baselines.methods import AtThreshold, Method
from tasks.surprise.baselines.tuning import Ground
from tasks.surprise.calibrate import BestF1, Goal, NoPoint, RecallUnderCap, TargetRecall
from tasks.surprise.curve import trade_off
from tasks.surprise.rows import F64, I64, Bool
from tasks.surprise.rules import Rule
from tasks.surprise.units import Units

GRID = 24  # thresholds of each method: the paper's 576 pairs


def jointly_tuned(
    first: Method, second: Method, validation: Ground, goal: Goal, kind: type[Union] | type[Intersection] = Union
) -> Union | Intersection | NoPoint:
    """Choose the thresholds of two graded methods for their union or intersection.

    The thresholds of each are those at which it reaches 1/24, 2/24, ... of the targets by itself. Of pairs that meet
    the goal alike, the one that masks fewest other units is taken, then the one that masks most targets.

    Raises:
        ValueError: one of the methods is fixed, or the validation material has no targets or nothing else.
    """
    rules = [_rule(method) for method in (first, second)]
    units = [validation.units(method) for method in (first, second)]
    cuts = [_cuts(each) for each in units]
    if min(cut.size for cut in cuts) == 0:
        return NoPoint("One of the two methods masks no target at any threshold: combine others.")
    places = [np.searchsorted(-cut, -each.levels) for cut, each in zip(cuts, units, strict=True)]
    target = units[0].target
    hits = _masked(places, target, cuts, kind)
    collateral = _masked(places, ~target, cuts, kind)
    chosen = _best(hits, collateral, int(target.sum()), int((~target).sum()), goal)
    if chosen is None:
        return NoPoint(f"None of {hits.size} pairs of thresholds meets the goal {goal}: ask for less.")
    at = np.unravel_index(chosen, hits.shape)
    parts = tuple(
        AtThreshold(method, _threshold(rule, cut, int(place), each))
        for method, rule, cut, place, each in zip((first, second), rules, cuts, at, units, strict=True)
    )
    return kind(parts)


def _rule(method: Method) -> Rule:
    if method.rule is None:
        raise ValueError(f"{method.name} is fixed: it has no threshold to tune")
    return method.rule


def _cuts(units: Units) -> F64:
    """Levels, falling, at which equal shares of the targets are reached."""
    curve = trade_off(units.piles())
    shares = np.arange(1, GRID + 1) / GRID
    at = np.searchsorted(curve.tpr, shares - 1e-12)
    return np.asarray(curve.levels[np.unique(at[at < curve.levels.size])])


def _threshold(rule: Rule, cuts: F64, place: int, units: Units) -> float:
    below = units.levels[units.levels < cuts[place]]
    return rule.threshold(float(cuts[place]), float(below.max(initial=-np.inf)))


def _masked(places: list[I64], counted: Bool, cuts: list[F64], kind: type[Union] | type[Intersection]) -> I64:
    """Count the units masked at each pair of cuts; a unit's place is the first of the falling cuts that it reaches."""
    shape = (cuts[0].size + 1, cuts[1].size + 1)
    flat = np.ravel_multi_index((places[0][counted], places[1][counted]), shape)
    table = np.bincount(flat, minlength=shape[0] * shape[1]).reshape(shape)
    if kind is Intersection:
        return np.asarray(table.cumsum(axis=0).cumsum(axis=1)[:-1, :-1])
    neither = table[::-1, ::-1].cumsum(axis=0).cumsum(axis=1)[::-1, ::-1][1:, 1:]
    return np.asarray(table.sum() - neither)


def _best(hits: I64, collateral: I64, targets: int, others: int, goal: Goal) -> int | None:
    """Place of the best pair, in the flattened table; None where none meets the goal."""
    match goal:
        case TargetRecall(recall=recall):
            met, value = hits / targets >= recall, np.zeros(hits.shape)  # as ``calibrate`` compares
        case RecallUnderCap(collateral=cap):
            met, value = (collateral / max(others, 1) <= cap) & (hits > 0), hits.astype(np.float64)
        case BestF1():
            met, value = hits > 0, 2 * hits / (hits + collateral + targets)
    if not met.any():
        return None
    order = np.lexsort((-hits.ravel(), collateral.ravel(), -value.ravel(), ~met.ravel()))
    return int(order[0])
