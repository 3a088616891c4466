"""What calibration and evaluation draw: trade-offs, score histograms, ROC curves."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from tasks.report.marks import visible
from tasks.surprise.calibrate import Point
from tasks.surprise.curve import Curve, Histograms
from tasks.surprise.evaluation.results import Operating
from tasks.surprise.pictures.drawing import DASHES, FAINT, INK, OTHER, PALETTE, SHAPES, TARGET, png
from tasks.surprise.rows import F64
from tasks.surprise.rules import LocalRule, Rule

MOST_POINTS = 2000  # of a curve: more than a picture has columns
LONGEST_NAME = 40
NAME_WIDTH, NAME_HEIGHT = 0.15, 0.035  # of the name of an operating point, as shares of the axes


@dataclass(frozen=True, eq=False)
class NamedCurve:
    """A curve of a picture, such as the validation data or a method."""

    name: str
    curve: Curve


@dataclass(frozen=True, slots=True)
class FixedPoint:
    """A method without a threshold: one point, where others have a curve."""

    name: str
    fpr: float
    tpr: float


@dataclass(frozen=True, eq=False)
class RocPair:
    """A setting of SM Figure 6: validation and application data under one scoring rule."""

    name: str
    validation: Curve
    application: Curve


def roc_points(curve: Curve, most: int = MOST_POINTS) -> tuple[F64, F64]:
    """Collateral and recall of a ROC curve from (0, 0) to (1, 1), at most ``most`` points and the ends of it.

    The last step, to what no threshold masks, is a straight line: those units are tied.
    """
    at = np.unique(np.linspace(0, curve.levels.size - 1, min(most, curve.levels.size)).round().astype(np.int64))
    return (
        np.concatenate([[0.0], curve.fpr[at], [1.0]]),
        np.concatenate([[0.0], curve.tpr[at], [1.0]]),
    )


def roc(pairs: Sequence[RocPair], points: Sequence[FixedPoint] = ()) -> bytes:
    """Draw validation (dashed) and application (solid) ROC curves with both AUROCs, as SM Figure 6."""

    def paint(axes: Axes) -> None:
        for place, pair in enumerate(pairs):
            color = PALETTE[place % len(PALETTE)]
            name = f"{_short(pair.name)} · {pair.validation.auroc:.2f} / {pair.application.auroc:.2f}"
            axes.plot(*roc_points(pair.validation), linestyle="--", color=color)
            axes.plot(*roc_points(pair.application), color=color, label=name)
        _points(axes, points, len(pairs))
        _roc_axes(axes)
        axes.plot([], [], color=INK, linestyle="--", label="dashed: validation")
        _legend(axes, title="setting · AUROC validation / application")

    return png(_size(len(pairs) + len(points)), paint)


def roc_of_methods(curves: Sequence[NamedCurve], points: Sequence[FixedPoint] = ()) -> bytes:
    """Draw the ROC curves of several methods on the same data."""

    def paint(axes: Axes) -> None:
        for place, each in enumerate(curves):
            label = f"{_short(each.name)} · AUROC {each.curve.auroc:.2f}"
            color, dash = PALETTE[place % len(PALETTE)], DASHES[place // len(PALETTE) % len(DASHES)]
            axes.plot(*roc_points(each.curve), color=color, linestyle=dash, label=label)
        _points(axes, points, len(curves))
        _roc_axes(axes)
        _legend(axes)

    return png(_size(len(curves) + len(points)), paint)


def _points(axes: Axes, points: Sequence[FixedPoint], first: int) -> None:
    for place, each in enumerate(points, first):  # colours go on where those of the curves end
        color, shape = PALETTE[place % len(PALETTE)], SHAPES[place // len(PALETTE) % len(SHAPES)]
        axes.plot(each.fpr, each.tpr, shape, color=color, markersize=6, label=_short(each.name), clip_on=False)


def _size(entries: int) -> tuple[float, float]:
    """Inches of a picture with so many methods: the legend stands below and takes its lines."""
    return 5.2, 4.7 + 0.19 * entries


def _legend(axes: Axes, title: str | None = None) -> None:
    """Put the legend below the axes, where it hides no curve."""
    axes.legend(title=title, title_fontsize=8.5, loc="upper center", bbox_to_anchor=(0.5, -0.13), alignment="left")


def calibration(
    curve: Curve, scores: Histograms, operating: Sequence[Operating], chosen: Point | None, rule: Rule
) -> bytes:
    """Draw what a threshold was chosen by: recall against collateral, rates against the threshold, histograms."""
    level, score_name = None, "score of the window"
    if chosen is not None:
        level = chosen.threshold
    if isinstance(rule, LocalRule):
        score_name = "rank among neighbours, negative (0: the most surprising)"
        level = None if level is None else -level

    def paint(left: Axes, middle: Axes, right: Axes) -> None:
        _trade_off(left, curve, operating, chosen)
        _by_threshold(middle, curve, level, score_name)
        _histograms(right, scores, level, score_name)

    return png((12.6, 4.8), paint, panels=(1, 3))


def _trade_off(axes: Axes, curve: Curve, operating: Sequence[Operating], chosen: Point | None) -> None:
    axes.plot(*roc_points(curve), color=OTHER, label=f"AUROC {curve.auroc:.3f}")
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle=":", label="chance")
    for name, places in named_places(operating):
        for place in places:
            axes.plot(*place, "o", color=OTHER, markersize=5)
        right = places[0][0] > 0.7
        axes.annotate(
            name,
            places[0],
            xytext=(-6 if right else 6, -10),
            textcoords="offset points",
            ha="right" if right else "left",
            fontsize=8,
        )
    if chosen is not None:
        place = (chosen.counts.fpr or 0.0, chosen.counts.tpr or 0.0)
        axes.plot(*place, "D", color=TARGET, markersize=7, label="chosen", zorder=3)
    axes.set_title("What a threshold costs")
    axes.set_xlabel("collateral (FPR)")
    axes.set_ylabel("target recall (TPR)")
    _percent(axes)
    _legend(axes)


def named_places(operating: Sequence[Operating]) -> list[tuple[str, list[tuple[float, float]]]]:
    """Return names and their places (collateral, recall); points too near for a name each share one, at the first."""
    found: list[tuple[str, list[tuple[float, float]]]] = []
    for each in operating:
        if not isinstance(each.point, Point):
            continue
        place = (each.point.counts.fpr or 0.0, each.point.counts.tpr or 0.0)
        for at, (name, places) in enumerate(found):
            if abs(places[0][0] - place[0]) < NAME_WIDTH and abs(places[0][1] - place[1]) < NAME_HEIGHT:
                found[at] = (f"{name}, {each.name}", [*places, place])
                break
        else:
            found.append((each.name, [place]))
    return found


def _by_threshold(axes: Axes, curve: Curve, level: float | None, score_name: str) -> None:
    at = np.unique(np.linspace(0, curve.levels.size - 1, min(MOST_POINTS, curve.levels.size)).astype(np.int64))
    levels = curve.levels[at]
    axes.plot(levels, curve.tpr[at], color=TARGET, label="recall")
    axes.plot(levels, curve.fpr[at], color=OTHER, label="collateral", linestyle="--")
    axes.plot(levels, curve.f1[at], color=PALETTE[2], label="F1", linestyle="-.")
    everything = 2 * curve.targets / (2 * curve.targets + curve.others)
    axes.axhline(
        everything, color=INK, linewidth=0.9, linestyle=":", label=f"F1 of masking everything {everything:.3f}"
    )
    _mark(axes, level)
    axes.set_title("By threshold")
    axes.set_xlabel(score_name)
    axes.set_ylim(0, 1.03)
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    _legend(axes)


def _histograms(axes: Axes, scores: Histograms, level: float | None, score_name: str) -> None:
    for counts, name, color, never in (
        (scores.others, "others", OTHER, scores.others_never_masked),
        (scores.targets, "targets", TARGET, scores.targets_never_masked),
    ):
        total = int(counts.sum()) + never
        shares = counts / total if total else counts.astype(np.float64)
        rest = f", {never / total:.1%} never" if never else ""
        axes.stairs(shares, scores.edges, fill=True, color=color, alpha=0.35)
        axes.stairs(shares, scores.edges, color=color, label=f"{name} ({total:,}{rest})")
    _mark(axes, level)
    axes.set_title("Scores of targets and of others")
    axes.set_xlabel(score_name)
    axes.set_ylabel("share of its kind")
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    _legend(axes)


def _mark(axes: Axes, level: float | None) -> None:
    if level is not None:
        axes.axvline(level, color=INK, linewidth=1.0, label=f"threshold {level:.4g}")


def _roc_axes(axes: Axes) -> None:
    axes.plot([0, 1], [0, 1], color=FAINT, linestyle=":", label="chance")
    axes.set_xlabel("false positive rate (collateral)")
    axes.set_ylabel("true positive rate (target recall)")
    _percent(axes)


def _percent(axes: Axes) -> None:
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylim(-0.02, 1.02)
    axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
    axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))


def _short(name: str) -> str:
    shown = visible(name).replace("\n", " ")
    return shown if len(shown) <= LONGEST_NAME else shown[: LONGEST_NAME - 1] + "…"
