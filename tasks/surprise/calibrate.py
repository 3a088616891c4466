"""Choosing a threshold on labelled validation data (SM sections 5 and 7): by recall, by F1, or under a cap."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from tasks.surprise.curve import Curve, trade_off
from tasks.surprise.metrics import Counts
from tasks.surprise.piles import Piles
from tasks.surprise.rules import Rule

_NOT_SEPARATE = "the scores do not separate private from other content; use another means than Surprise Masking here."


class TargetRecall(BaseModel):
    """The least masking that reaches a target recall: SM95 is 0.95."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["recall"] = "recall"
    recall: float = Field(gt=0, le=1, description="share of the validation targets to mask")


class BestF1(BaseModel):
    """The threshold of the best F1."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["f1"] = "f1"


class RecallUnderCap(BaseModel):
    """The highest recall that keeps collateral under a cap."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kind: Literal["cap"] = "cap"
    collateral: float = Field(ge=0, lt=1, description="share of the other units that may be masked")


Goal = Annotated[TargetRecall | BestF1 | RecallUnderCap, Field(discriminator="kind")]


@dataclass(frozen=True)
class Point:
    """A threshold and what it does on the validation data."""

    threshold: float
    counts: Counts


@dataclass(frozen=True)
class NoPoint:
    """No threshold is acceptable; ``reason`` is a sentence for a person."""

    reason: str


def calibrate(curve: Curve, rule: Rule, goal: Goal) -> Point | NoPoint:
    """Choose the threshold of ``rule`` that meets ``goal``; of several, the one that masks least.

    Args:
        curve: of labelled validation units with levels of the complete procedure (``Procedure.levels``), consensus
            and propagation included.
        rule: of that procedure.
        goal: what to reach.
    """
    if curve.targets == 0 or curve.others == 0:
        missing = "targets" if curve.targets == 0 else "units that are no targets"
        return NoPoint(f"The validation data hold no {missing}: label spans of both kinds before calibrating.")
    if curve.levels.size == 0:
        return NoPoint(
            "No validation unit can be masked at any threshold: none is supervised and in enough windows for the"
            " consensus that have a score (for local ranks: one above that of a neighbour)."
        )
    chosen = _choose(curve, goal)
    if isinstance(chosen, NoPoint):
        return chosen
    tpr, fpr = float(curve.tpr[chosen]), float(curve.fpr[chosen])
    if tpr <= fpr:
        return NoPoint(
            f"Masking {tpr:.1%} of the targets takes {fpr:.1%} of everything else, no better than chance:"
            f" {_NOT_SEPARATE}"
        )
    below = float(curve.levels[chosen + 1]) if chosen + 1 < curve.levels.size else -np.inf
    return Point(rule.threshold(float(curve.levels[chosen]), below), curve.counts(chosen))


def _choose(curve: Curve, goal: Goal) -> int | NoPoint:
    match goal:
        case TargetRecall(recall=recall):
            if curve.tpr[-1] < recall:
                never = curve.targets - int(curve.true_positives[-1])
                return NoPoint(
                    f"Recall {recall:.1%} cannot be reached, {curve.tpr[-1]:.1%} is the most: {never} of"
                    f" {curve.targets} targets are masked at no threshold (no valid window, too few windows for the"
                    " consensus, not supervised, or past the cut of a long text)."
                )
            return int(np.searchsorted(curve.tpr, recall))
        case BestF1():
            best = int(np.argmax(curve.f1))
            everything = curve.counts(best).mask_everything_f1
            if everything is not None and curve.f1[best] <= everything:
                return NoPoint(
                    f"The best F1, {curve.f1[best]:.3f}, is not above that of masking everything, {everything:.3f}:"
                    f" {_NOT_SEPARATE}"
                )
            return best
        case RecallUnderCap(collateral=cap):
            under = int(np.searchsorted(curve.fpr, cap, side="right"))
            if under == 0 or curve.true_positives[under - 1] == 0:
                if curve.true_positives[-1] == 0:
                    return NoPoint("No target can be masked at any threshold: none has a score.")
                first = int(np.argmax(curve.true_positives > 0))
                return NoPoint(
                    f"No target can be masked within a collateral of {cap:.2%}: the first to be masked come with"
                    f" {curve.fpr[first]:.2%}."
                )
            return int(np.searchsorted(curve.true_positives, curve.true_positives[under - 1]))


@dataclass(frozen=True)
class Transfer:
    """Thresholds calibrated on one group and used on others, the body of a table such as SM Table 12.

    Attributes:
        calibrated: what calibration gave on each group's validation units.
        counts: (calibrated on, used on) to the counts there; groups without a threshold are not in it.
    """

    calibrated: Mapping[str, Point | NoPoint]
    counts: Mapping[tuple[str, str], Counts]


def transfer(validation: Mapping[str, Piles], application: Mapping[str, Piles], rule: Rule, goal: Goal) -> Transfer:
    """Calibrate on each validation group, and count at its threshold on every application group."""
    calibrated = {name: calibrate(trade_off(piles), rule, goal) for name, piles in validation.items()}
    counts = {
        (source, used_on): piles.counts(rule, point.threshold)
        for source, point in calibrated.items()
        if isinstance(point, Point)
        for used_on, piles in application.items()
    }
    return Transfer(calibrated, counts)
