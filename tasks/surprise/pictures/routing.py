"""Security against utility of interventions, cost as area (SM Figure 9)."""

from collections.abc import Sequence

from matplotlib.axes import Axes
from matplotlib.ticker import PercentFormatter

from tasks.report.marks import visible
from tasks.surprise.pictures.drawing import INK, PALETTE, png
from tasks.surprise.routing.results import Outcome

LARGEST = 900.0  # points squared, of the dearest intervention
SMALLEST = 30.0


def tradeoff(outcomes: Sequence[Outcome]) -> bytes:
    """Draw each intervention that has a security; utility is the judge's where there is one, else BLEU."""
    shown = [each for each in outcomes if each.security is not None]
    judged = all(each.facts_kept is not None for each in shown)
    dearest = max((each.usd_per_million for each in shown), default=0.0)

    def paint(axes: Axes) -> None:
        for place, each in enumerate(shown):
            utility = each.bleu if not judged or each.facts_kept is None else each.facts_kept
            place_of = (utility, each.security or 0.0)
            area = SMALLEST + (LARGEST * each.usd_per_million / dearest if dearest else 0.0)
            color = PALETTE[place % len(PALETTE)]
            axes.scatter(*place_of, s=area, color=color, alpha=0.55, edgecolor=color)
            label = f"{visible(each.name)} · ${each.usd_per_million:,.2f}"
            axes.plot([], [], "o", color=color, alpha=0.7, markersize=7, label=label)  # of one size in the legend
        axes.set_xlabel("facts kept, by the judge" if judged else "sentence BLEU of the source")
        axes.set_ylabel("private values gone")
        axes.set_ylim(-0.05, 1.08)
        axes.margins(x=0.12)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        if judged:
            axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_title("up and right is better; area: USD per million source tokens", color=INK)
        axes.legend(loc="upper left", bbox_to_anchor=(1.02, 1.0), handletextpad=0.4)

    return png((7.6, 4.2), paint)
