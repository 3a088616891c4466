"""The picture of a review: each share with its interval, beside the paper's."""

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from tasks.measuring.proportions import Proportion
from tasks.report.drawing import FAINT, OURS, PAPER, draw
from tasks.reviewing.layout import TITLES
from tasks.reviewing.paper import PAPER as FACTS
from tasks.reviewing.results import Results

_SIZE_IN = (8.6, 2.6)
_APART = 0.13  # of the two sources, in rows


def shares(results: Results) -> Markup:
    """Draw the shares of synthetic and human-written texts that are natural, coherent, both."""
    rows = [(TITLES[question], answer.synthetic, answer.human) for question, answer in results.answers.items()]
    rows.append(("paper: both", FACTS.synthetic, FACTS.human))

    def paint(axes: Axes) -> None:
        places = np.arange(len(rows))
        _points(axes, places - _APART, [ours for _, ours, _ in rows], "o", OURS, "synthetic")
        _points(axes, places + _APART, [theirs for _, _, theirs in rows], "D", PAPER, "human-written")
        axes.axhline(len(rows) - 1.5, color=FAINT, linewidth=0.8)
        axes.set_yticks(places, [name for name, _, _ in rows])
        axes.set_ylim(len(rows) - 0.5, -0.5)
        axes.grid(axis="y", visible=False)
        axes.spines["left"].set_visible(False)
        axes.set_xlim(0, 1.01)
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), ncols=2)

    return draw("review", "Shares judged natural, coherent and both, by source, with 95 % intervals", _SIZE_IN, paint)


def _points(axes: Axes, places: np.ndarray, found: list[Proportion], marker: str, color: str, label: str) -> None:
    drawn = [
        (place, each.value, each.value - each.low, each.high - each.value)
        for place, each in zip(places, found, strict=True)
        if each.value is not None and each.low is not None and each.high is not None
    ]
    if drawn:
        at, values, below, above = zip(*drawn, strict=True)
        axes.errorbar(
            values, at, xerr=(below, above), fmt=marker, color=color, markersize=5, elinewidth=1.4, label=label
        )
