"""Privacy against utility (SM Figures 2 and 3), and coverage against outcome (SM Figure 4), from our models."""

from collections.abc import Callable, Sequence

from matplotlib.axes import Axes

from tasks.masking_study.report.rows import MethodRow, collateral, coverage, gold_nll, privacy
from tasks.masking_study.results import CellResult
from tasks.masking_study.statistics import Mean
from tasks.surprise.pictures.drawing import INK, PALETTE, SHAPES, png

_FAMILIES = (  # beginning of a masking's name, what the legend says
    ("SM", "Surprise Masking"),
    ("random", "random, same budget"),
    ("goldfish", "Goldfish"),
    ("oracle", "oracle"),
    ("unmasked", "unmasked"),
    ("opf", "OpenAI Privacy Filter"),
)
_Figure = Callable[[CellResult], float | None]


def tradeoff(rows: Sequence[MethodRow], leak: str) -> bytes:
    """Draw every method that masks the loss: mean over seeds, with standard errors where there are several.

    Args:
        rows: of all methods.
        leak: what is to be low, in words.
    """

    def paint(axes: Axes) -> None:
        for row in _masking(rows):
            x, y = row.mean(lambda each: -gold_nll(each)), row.mean(privacy)
            if x is not None and y is not None:
                _point(axes, row, x, y)
                _name(axes, row, x, y)
        axes.set_xlabel("log likelihood of gold answers, nats a token (right is better)")
        axes.set_ylabel(f"{leak}, % (low is better)")
        axes.set_ylim(bottom=-3)
        axes.margins(x=0.12)
        _legend(axes)

    return png((7.2, 4.4), paint)


def covered(rows: Sequence[MethodRow], leak: str) -> bytes:
    """Draw what is masked against what comes of it, one mark a model."""

    def paint(privacy_axes: Axes, utility_axes: Axes) -> None:
        for row in _masking(rows):
            color, shape, label = _look(row)
            for axes, x, y in ((privacy_axes, coverage, privacy), (utility_axes, collateral, gold_nll)):
                pairs = [(x(each), y(each)) for each in row.results]
                axes.plot(*zip(*pairs, strict=True), shape, color=color, alpha=0.75, markersize=5, label=label)
        privacy_axes.set_xlabel("target tokens masked, %")
        privacy_axes.set_ylabel(f"{leak}, %")
        utility_axes.set_xlabel("other tokens masked, %")
        utility_axes.set_ylabel("NLL of gold answers, nats a token")
        _legend(utility_axes)

    return png((8.6, 3.8), paint, panels=(1, 2))


def _masking(rows: Sequence[MethodRow]) -> list[MethodRow]:
    return [row for row in rows if row.method.action == "loss"]


def _look(row: MethodRow) -> tuple[str, str, str]:
    """Return color, shape and what the legend says of a method's family."""
    for place, (beginning, label) in enumerate(_FAMILIES):
        if row.method.masking.startswith(beginning):
            return PALETTE[place % len(PALETTE)], SHAPES[place % len(SHAPES)], label
    raise ValueError(f"{row.name}: a method of no family that is drawn: add it to _FAMILIES")


def _point(axes: Axes, row: MethodRow, x: Mean, y: Mean) -> None:
    color, shape, label = _look(row)
    axes.errorbar(
        x.value, y.value, yerr=y.standard_error, xerr=x.standard_error, fmt=shape, color=color, markersize=6,
        elinewidth=1, label=label,
    )  # fmt: skip


def _name(axes: Axes, row: MethodRow, x: Mean, y: Mean) -> None:
    """Write a method's name beside its point: those of Surprise Masking on the left, where the oracle is not."""
    side, aligned = (-6, "right") if row.method.masking.startswith("SM") else (6, "left")
    axes.annotate(
        row.name, (x.value, y.value), (side, 3), textcoords="offset points", ha=aligned, fontsize=7, color=INK
    )


def _legend(axes: Axes) -> None:
    """Name each family once."""
    handles, labels = axes.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    axes.legend(named.values(), named.keys(), loc="upper left", bbox_to_anchor=(1.02, 1.0))
