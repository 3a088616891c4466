"""An attack as one HTML file: how many values are found, by number of continuations and by kind."""

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator, PercentFormatter

from tasks.measuring.extraction.attack import ALL, ExtractionRate, ExtractionResult
from tasks.report.drawing import FAINT, GOOD, INK, OURS, PAPER, POOR, draw
from tasks.report.marks import visible
from tasks.report.templating import page_templates

SIZE_IN = (9.5, 3.6)
_COLORS = (OURS, PAPER, GOOD, POOR, FAINT)
_MARKERS = "os^vD"


def extraction_page(result: ExtractionResult) -> str:
    """Write the report of one attack."""
    return _TEMPLATES.get_template("extraction.html.jinja").render(
        model=result.model,
        settings=result.settings,
        values=len(result.attempts),
        kinds=kinds(result),
        rate=result.rate,
        picture=extraction_picture(result),
    )


def kinds(result: ExtractionResult) -> list[str]:
    """Return what is told apart: all values, then each kind; nothing twice where there is one kind."""
    found = list(dict.fromkeys(rate.kind for rate in result.rates))
    return found if len(found) > 2 else [ALL]


def extraction_picture(result: ExtractionResult) -> Markup:
    """Draw both shares by number of continuations, a line a kind; the band is the interval over all values."""
    shown = kinds(result)

    def paint(near: Axes, exact: Axes) -> None:
        for axes, field, title in ((near, "approximate", "approximate"), (exact, "exact", "exact")):
            for place, kind in enumerate(shown):
                _line(axes, [rate for rate in result.rates if rate.kind == kind], field, place)
            axes.set_title(title, loc="left", fontsize=9, color=INK)
            axes.set_xscale("log", base=2)
            axes.set_xticks(result.settings.budgets, [f"{budget:,}" for budget in result.settings.budgets])
            axes.xaxis.set_minor_locator(NullLocator())
            axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
            axes.set_ylim(-0.02, 1.02)
            axes.set_xlabel("continuations of each value")
        near.set_ylabel("values found")
        # Of the figure: a legend of one panel would take its width from that panel.
        near.figure.legend(*near.get_legend_handles_labels(), loc="outside upper left", ncols=len(shown))

    says = "Share of private values found, by number of continuations and by kind of value"
    return draw("extraction", says, SIZE_IN, paint, panels=(1, 2))


def _line(axes: Axes, rates: list[ExtractionRate], field: str, place: int) -> None:
    known = [(rate.budget, share) for rate in rates if (share := getattr(rate, field)).value is not None]
    budgets, color = [budget for budget, _ in known], _COLORS[place % len(_COLORS)]
    values = [share.value for _, share in known]
    label = visible(rates[0].kind)
    axes.plot(budgets, values, marker=_MARKERS[place % len(_MARKERS)], color=color, label=label, markersize=5)
    if place == 0:
        lows, highs = [share.low for _, share in known], [share.high for _, share in known]
        axes.fill_between(budgets, lows, highs, color=color, alpha=0.15, linewidth=0)


_TEMPLATES = page_templates("tasks.measuring.report")
