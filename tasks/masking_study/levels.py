"""Policies for several target recalls of one calibration split, through the complete procedure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tasks.masking_study.config import StudyName
from tasks.masking_study.grid import level
from tasks.surprise.calibrate import NoPoint, TargetRecall
from tasks.surprise.evaluation.calibration import Calibration, calibrated
from tasks.surprise.evaluation.material import material_of
from tasks.surprise.evaluation.presets import PRESETS
from tasks.surprise.policy import Policy, Unprompted
from tasks.surprise.scored import ScoredSet


@dataclass(frozen=True)
class Levels:
    """What calibration gave.

    Attributes:
        policies: by the name of the masking.
        missing: why a target recall has none.
        figures: everything by name, as it is stored.
    """

    policies: dict[str, Policy]
    missing: dict[str, str]
    figures: dict[str, dict[str, Any]]


def calibrate_levels(scored: ScoredSet, study: StudyName, recalls: Sequence[int]) -> Levels:
    """Find the threshold of each target recall.

    Args:
        scored: the calibration split with labels, groups whole.
        study: names the paper's procedure (SM Table 5).
        recalls: target recalls in percent.
    """
    found = {level(recall): _calibrated(scored, study, recall) for recall in recalls}
    return Levels(
        {name: each.policy for name, each in found.items() if each.policy is not None},
        {name: each.chosen.reason for name, each in found.items() if isinstance(each.chosen, NoPoint)},
        {name: each.json() for name, each in found.items()},
    )


def _calibrated(scored: ScoredSet, study: StudyName, recall: int) -> Calibration:
    setting = PRESETS[study]
    material = material_of(scored, setting.procedure, Unprompted(), scored.documents, None)
    goal = TargetRecall(recall=recall / 100)
    return calibrated([material], setting.procedure, setting.unit, goal, scored.reference, Unprompted())
