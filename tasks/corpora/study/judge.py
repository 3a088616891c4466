"""Surprise Masking and others on the folds of a benchmark: thresholds from validation, figures from application."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.corpora.study.benchmarks import Fold
from tasks.surprise.baselines.methods import AtThreshold, Material, Method, SurpriseMasking
from tasks.surprise.calibrate import NoPoint, Point, calibrate
from tasks.surprise.curve import Curve, trade_off
from tasks.surprise.evaluation.distribution import Distribution, distribution
from tasks.surprise.evaluation.presets import Setting
from tasks.surprise.evaluation.results import Figures, auroc_of, result_of
from tasks.surprise.evaluation.transfer import TransferTable, transfer_table
from tasks.surprise.policy import Unprompted
from tasks.surprise.scored import ScoredSet

SM = "SM"
Calibrated = tuple[AtThreshold, Material]  # Surprise Masking at its threshold, and what it works on
Others = Callable[[Material, Calibrated | None], Sequence[tuple[str, Method]]]  # methods to stand beside it, by name


@dataclass(frozen=True)
class Row:
    """A method on one part of one fold.

    Attributes:
        fold: its number.
        part: name of the application, or of the validation part.
        documents: of the part.
        method: by name.
        threshold: of a graded method; None of a fixed one, and where there is none to be had.
        figures: at the threshold; None where there is none to be had.
        reason: why not.
        auroc: of a graded method, on this part.
        validation_auroc: the same on the validation part.
        categories: figures of each category by itself.
    """

    fold: int
    part: str
    documents: int
    method: str
    threshold: float | None
    figures: Figures | None
    reason: str | None
    auroc: float | None
    validation_auroc: float | None
    categories: Mapping[str, Figures]

    def json(self) -> dict[str, Any]:
        """All figures for a program, unrounded."""
        return {
            "fold": self.fold,
            "part": self.part,
            "documents": self.documents,
            "method": self.method,
            "threshold": self.threshold,
            "reason": self.reason,
            "validation_auroc": self.validation_auroc,
            "auroc": self.auroc,
            "figures": None if self.figures is None else self.figures.json(),
            "categories": {name: figures.json() for name, figures in self.categories.items()},
        }


@dataclass(frozen=True, slots=True)
class _Place:
    fold: int
    part: str
    documents: int


@dataclass(frozen=True, eq=False)
class Curves:
    """Surprise Masking's ROC curves of a fold: validation, and an application."""

    fold: int
    part: str
    validation: Curve
    application: Curve


@dataclass(frozen=True, eq=False)
class Judged:
    """All that was found.

    Attributes:
        rows: folds by parts by methods, Surprise Masking first.
        curves: of Surprise Masking, folds by applications.
        transfers: stratum to a table a fold.
    """

    rows: Sequence[Row]
    curves: Sequence[Curves]
    transfers: Mapping[str, Sequence[TransferTable]]


def judge(
    scored: ScoredSet, folds: Sequence[Fold], setting: Setting, others: Others, transfers: Sequence[str]
) -> Judged:
    """Judge methods on each fold.

    Args:
        scored: the benchmark's documents, scored without a prompt.
        folds: parts by ids of these documents.
        setting: procedure, unit and goal of Surprise Masking; the others' thresholds are for the same goal.
        others: makes what stands beside it.
        transfers: strata, or ``category``, between which its threshold is carried over.

    Raises:
        ValueError: a document of a fold was not scored.
    """
    rows: list[Row] = []
    curves: list[Curves] = []
    tables: dict[str, list[TransferTable]] = {by: [] for by in transfers}
    for number, fold in enumerate(folds):
        name, ids = fold.validation
        method = SurpriseMasking(setting.procedure, SM)
        validation = _material(scored, ids, name)
        before = distribution(method, [validation], setting.unit)
        curve = trade_off(before.overall)
        point = calibrate(curve, method.rule, setting.goal)
        rows.append(_row(_Place(number, name, len(ids)), SM, method, before, curve, point))
        for part, members in fold.applications.items():
            material = _material(scored, members, part)
            counted = distribution(method, [material], setting.unit)
            place = _Place(number, part, len(members))
            rows.append(_row(place, SM, method, counted, curve, point))
            curves.append(Curves(number, part, curve, trade_off(counted.overall)))
            at = (AtThreshold(method, point.threshold), material) if isinstance(point, Point) else None
            for named, other in others(material, at):
                rows.append(_other(place, named, other, material, validation, setting))
            for by in transfers:
                tables[by].append(transfer_table(method, [validation], [material], setting.unit, by, setting.goal))
    return Judged(rows, curves, tables)


def _material(scored: ScoredSet, ids: frozenset[str], part: str) -> Material:
    places = [place for place, name in enumerate(scored.ids) if name in ids]
    if len(places) < len(ids):
        missing = min(ids - set(scored.ids))
        raise ValueError(f"{part}: {len(ids) - len(places)} of {len(ids)} documents have no scores, {missing} for one")
    chosen = scored.take(places)
    return Material(chosen.documents, chosen.batch(Unprompted()))


def _other(place: _Place, name: str, method: Method, material: Material, validation: Material, setting: Setting) -> Row:
    counted = distribution(method, [material], setting.unit)
    if method.rule is None:
        return _row(place, name, method, counted, None, None)
    curve = trade_off(distribution(method, [validation], setting.unit).overall)
    return _row(place, name, method, counted, curve, calibrate(curve, method.rule, setting.goal))


def _row(
    place: _Place, name: str, method: Method, counted: Distribution, before: Curve | None, point: Point | NoPoint | None
) -> Row:
    threshold = point.threshold if isinstance(point, Point) else None
    figures, categories = None, {}
    if not isinstance(point, NoPoint):
        result = result_of(name, counted, method.rule, threshold)
        figures, categories = result.overall, dict(result.categories)
    return Row(
        fold=place.fold,
        part=place.part,
        documents=place.documents,
        method=name,
        threshold=threshold,
        figures=figures,
        reason=point.reason if isinstance(point, NoPoint) else None,
        auroc=None if before is None else auroc_of(trade_off(counted.overall)),
        validation_auroc=None if before is None else auroc_of(before),
        categories=categories,
    )
