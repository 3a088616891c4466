"""Calibration as a whole: one threshold, the trade-off around it, and what it means."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tasks.surprise.baselines.methods import Material, SurpriseMasking
from tasks.surprise.calibrate import Goal, NoPoint, Point, calibrate
from tasks.surprise.curve import Curve, Histograms, histograms, trade_off
from tasks.surprise.documents import Document
from tasks.surprise.evaluation.advice import advice
from tasks.surprise.evaluation.counting import tally
from tasks.surprise.evaluation.results import Figures, Operating, Result, auroc_of, operating_points, result_of
from tasks.surprise.metrics import Counts
from tasks.surprise.policy import Achieved, Conditioning, Policy, Reference, Unit, Unprompted
from tasks.surprise.procedure import Procedure

BINS = 40


@dataclass(frozen=True, eq=False)
class Calibration:
    """A threshold and everything it was chosen by.

    Attributes:
        procedure: the complete one.
        unit: what was counted.
        goal: what the threshold is for.
        chosen: the threshold, or why there is none.
        policy: frozen; None where there is no threshold.
        curve: of the validation units.
        operating: thresholds for other goals.
        scores: levels of targets and of others; None where no unit has a level.
        result: the row of the chosen threshold, with categories; None where there is none.
        advice: sentences for a person.
        documents: labelled validation documents.
        spans: their labelled spans.
    """

    procedure: Procedure
    unit: Unit
    goal: Goal
    chosen: Point | NoPoint
    policy: Policy | None
    curve: Curve
    operating: Sequence[Operating]
    scores: Histograms | None
    result: Result | None
    advice: Sequence[str]
    documents: int
    spans: int

    @property
    def mask_everything_f1(self) -> float | None:
        """F1 of masking every unit."""
        whole = self.curve.targets + self.curve.others
        return 2 * self.curve.targets / (self.curve.targets + whole) if whole else None

    def json(self) -> dict[str, Any]:
        """All figures for a program, unrounded."""
        return {
            "procedure": self.procedure.model_dump(),
            "unit": self.unit,
            "goal": self.goal.model_dump(),
            "documents": self.documents,
            "labelled_spans": self.spans,
            "auroc": auroc_of(self.curve),
            "mask_everything_f1": self.mask_everything_f1,
            "chosen": _point(self.chosen),
            "operating_points": [{"name": each.name, **_point(each.point)} for each in self.operating],
            "categories": {name: each.json() for name, each in self.result.categories.items()} if self.result else {},
            "advice": list(self.advice),
        }


def calibrated(
    material: Material,
    procedure: Procedure,
    unit: Unit,
    goal: Goal,
    reference: Reference,
    conditioning: Conditioning,
) -> Calibration:
    """Choose a threshold on labelled documents through the complete procedure, and freeze it.

    Args:
        material: scored documents; all that count are labelled.
        procedure: to find a threshold for.
        unit: what counts as masked or not.
        goal: what the threshold is for.
        reference: the model and tokenizer of the scores.
        conditioning: the prompts they were taken under.

    Raises:
        ValueError: the material lacks tokens, texts, regions or groups that the procedure needs.
    """
    levels = SurpriseMasking(procedure).levels(material)
    counted = tally(material, levels, unit)
    curve = trade_off(counted.units)
    chosen = calibrate(curve, procedure.rule, goal)
    documents = material.judged
    spans = sum(len(document.labels) for document in documents)
    policy = result = None
    if isinstance(chosen, Point):
        policy = Policy(
            reference=reference,
            conditioning=conditioning,
            procedure=procedure,
            threshold=chosen.threshold,
            goal=goal,
            validation_sha256=fingerprint(documents),
            achieved=Achieved.at(chosen, curve, unit),
        )
        result = result_of("SM", counted, procedure.rule, chosen.threshold)
    return Calibration(
        procedure,
        unit,
        goal,
        chosen,
        policy,
        curve,
        operating_points(curve, procedure.rule),
        histograms(counted.units, BINS) if curve.levels.size else None,
        result,
        advice(
            curve,
            chosen,
            procedure,
            unit,
            labelled_spans=spans,
            unprompted=isinstance(conditioning, Unprompted),
        ),
        len(documents),
        spans,
    )


def fingerprint(documents: Sequence[Document]) -> str:
    """Hash labelled documents, whatever their order: what a policy says it was calibrated on."""
    digest = hashlib.sha256()
    for line in sorted(json.dumps(_plain(document), sort_keys=True) for document in documents):
        digest.update(line.encode("utf-8"))
        digest.update(b"\n")
    return digest.hexdigest()


def _plain(document: Document) -> dict[str, Any]:
    return {
        "id": document.id,
        "text": document.text,
        "group": document.group,
        "supervised": None if document.supervised is None else [asdict(part) for part in document.supervised],
        "labels": sorted((label.start, label.end, label.category) for label in document.labels),
    }


def _point(point: Point | NoPoint) -> dict[str, Any]:
    if isinstance(point, NoPoint):
        return {"threshold": None, "reason": point.reason}
    return {"threshold": point.threshold, **Figures(point.counts, None).json()}


def counts_of(calibration: Calibration) -> Counts | None:
    """The counts at the chosen threshold."""
    return calibration.chosen.counts if isinstance(calibration.chosen, Point) else None
