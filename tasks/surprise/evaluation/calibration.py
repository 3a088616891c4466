"""Calibration as a whole: one threshold, the trade-off around it, and what it means."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from tasks.surprise.baselines.methods import Material, SurpriseMasking
from tasks.surprise.calibrate import Goal, NoPoint, Point, calibrate
from tasks.surprise.curve import Curve, Histograms, histograms, trade_off
from tasks.surprise.documents import Document
from tasks.surprise.evaluation.advice import advice
from tasks.surprise.evaluation.counting import tally
from tasks.surprise.evaluation.distribution import Distribution
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
    corpus: Iterable[Material],
    procedure: Procedure,
    unit: Unit,
    goal: Goal,
    reference: Reference,
    conditioning: Conditioning,
) -> Calibration:
    """Choose a threshold on labelled documents through the complete procedure, and freeze it.

    Args:
        corpus: scored documents, piece by piece with whole groups; all that count are labelled.
        procedure: to find a threshold for.
        unit: what counts as masked or not.
        goal: what the threshold is for.
        reference: the model and tokenizer of the scores.
        conditioning: the prompts they were taken under.

    Raises:
        ValueError: a piece lacks tokens, texts, regions or groups that the procedure needs.
    """
    method = SurpriseMasking(procedure)
    parts: list[Distribution] = []
    digests: list[bytes] = []
    spans = 0
    for material in corpus:
        parts.append(Distribution.of(tally(material, method.levels(material), unit)))
        digests += [digest(document) for document in material.judged]
        spans += sum(len(document.labels) for document in material.judged)
    counted = Distribution.joined(parts)
    curve = trade_off(counted.overall)
    chosen = calibrate(curve, procedure.rule, goal)
    policy = result = None
    if isinstance(chosen, Point):
        policy = Policy(
            reference=reference,
            conditioning=conditioning,
            procedure=procedure,
            threshold=chosen.threshold,
            goal=goal,
            validation_sha256=fingerprint(digests),
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
        histograms(counted.overall, BINS) if curve.levels.size else None,
        result,
        advice(
            curve,
            chosen,
            procedure,
            unit,
            labelled_spans=spans,
            unprompted=isinstance(conditioning, Unprompted),
        ),
        len(digests),
        spans,
    )


def fingerprint(digests: Iterable[bytes]) -> str:
    """Hash labelled documents by their digests, whatever their order: what a policy was calibrated on."""
    return hashlib.sha256(b"".join(sorted(digests))).hexdigest()


def digest(document: Document) -> bytes:
    """Hash a labelled document: its text, its labels, and all that a mask depends on."""
    plain = {
        "id": document.id,
        "text": document.text,
        "group": document.group,
        "supervised": None if document.supervised is None else [asdict(part) for part in document.supervised],
        "labels": sorted((label.start, label.end, label.category) for label in document.labels),
    }
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode("utf-8")).digest()


def _point(point: Point | NoPoint) -> dict[str, Any]:
    if isinstance(point, NoPoint):
        return {"threshold": None, "reason": point.reason}
    return {"threshold": point.threshold, **Figures(point.counts, None).json()}


def counts_of(calibration: Calibration) -> Counts | None:
    """The counts at the chosen threshold."""
    return calibration.chosen.counts if isinstance(calibration.chosen, Point) else None
