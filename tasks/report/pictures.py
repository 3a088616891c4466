"""The pictures of a report: each takes figures and returns inline SVG. The tables beside them hold the same numbers."""

import math
from collections.abc import Mapping, Sequence

import numpy as np
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, PercentFormatter

from tasks.report.compare import Column, Comparison, Row
from tasks.report.domains import Category
from tasks.report.drawing import FAINT, GOOD, INK, OURS, PAPER, POOR, draw
from tasks.report.figures import Counted, Drop, RefinementStep, Spending, Summary
from tasks.report.marks import visible
from tasks.report.paper import PAPER as FACTS

WIDTH = 5.8  # inches, beside a table
WIDE = 11.2  # inches, across the page
BAR = 0.27  # inches a horizontal bar
MOST_BARS = 14
BINS = 24

Lane = tuple[str, str, str, Sequence[Row]]  # name, marker, colour, rows


def domains(rows: Sequence[Category]) -> Markup:
    """Each domain's share beside Table 1's."""

    def paint(axes: Axes) -> None:
        places = np.arange(len(rows))
        axes.barh(places, [row.share or 0 for row in rows], height=0.62, color=OURS, label="this set")
        theirs = [math.nan if row.paper is None else row.paper for row in rows]
        axes.plot(theirs, places, "D", color=PAPER, markersize=5, label="paper, Table 1")
        _horizontal(axes, [row.name for row in rows])
        axes.xaxis.set_major_formatter(PercentFormatter(1.0, decimals=None))
        axes.legend(loc="lower right")

    return draw("domains", "Share of records by domain, beside the paper's", _bars_size(len(rows)), paint)


def lengths(summary: Summary) -> Markup:
    """Words a record, with our mean and the paper's."""

    def paint(axes: Axes) -> None:
        _histogram(axes, summary.words, "words a record", FACTS.set.text_words)
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)

    return draw("lengths", "Distribution of the number of words a record", (WIDTH, 2.5), paint)


def annotations(summary: Summary) -> Markup:
    """Attributes and groups a record, and attributes a group."""

    def paint(left: Axes, middle: Axes, right: Axes) -> None:
        _histogram(left, summary.attributes, "attributes a record", FACTS.set.attributes_a_record)
        _histogram(middle, summary.groups, "groups a record", FACTS.set.groups_a_record)
        _histogram(right, summary.group_size, "attributes a group", FACTS.set.attributes_a_group)
        for axes in (left, middle, right):
            axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), handlelength=1.4)
            axes.xaxis.set_major_locator(MaxNLocator(4, integer=True))
            axes.set_ylabel("")

    says = "Distributions of attributes a record, groups a record and attributes a group"
    return draw("annotations", says, (WIDTH, 2.6), paint, panels=(1, 3))


def refinement(steps: Sequence[RefinementStep]) -> Markup:
    """What became of the revisions, step by step."""

    def paint(axes: Axes) -> None:
        places = np.arange(len(steps))
        series = (
            ("judged", [step.offered / step.reached for step in steps], FAINT),
            ("preferred by the judge", [step.preferred / step.reached for step in steps], PAPER),
            ("accepted", [step.accepted / step.reached for step in steps], OURS),
        )
        for shift, (label, heights, color) in zip((-0.27, 0, 0.27), series, strict=True):
            bars = axes.bar(places + shift, heights, width=0.25, color=color, label=label)
            axes.bar_label(bars, [f"{height:.0%}" for height in heights], padding=2, fontsize=8, color=INK)
        axes.set_xticks(places, [f"step {step.step}" for step in steps])
        axes.set_ylim(0, 1.12)
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.grid(axis="x", visible=False)
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3)

    return draw("refinement", "Revisions judged, preferred and accepted at each step", (WIDTH, 2.7), paint)


def diversity(comparison: Comparison) -> Markup:
    """Each of our sets among the paper's rows, one panel a metric."""
    columns = [column for column in comparison.models.columns if column.better]
    lanes: list[Lane] = [
        ("human-written", "o", FAINT, [row for row in comparison.domains.rows if row.source == "human"]),
        (
            "paper’s sets",
            "o",
            PAPER,
            [row for table in comparison.tables for row in table.rows if row.source == "paper"],
        ),
        *((_label(row.name, 24), "D", OURS, [row]) for row in comparison.pipelines.rows if row.source == "ours"),
    ]

    def paint(*panels: Axes) -> None:
        for axes, column in zip(panels, columns, strict=True):
            _strip(axes, column, lanes)
        for axes in panels[1:]:
            axes.tick_params(labelleft=False)

    says = "Diversity metrics of each set here among those of the paper's sets and of human-written ones"
    return draw("diversity", says, (WIDE, 0.9 + 0.3 * len(lanes)), paint, panels=(1, len(columns)))


def drops(reasons: Sequence[Drop]) -> Markup:
    """Dropped rows by reason, the most frequent first."""
    shown = reasons[:MOST_BARS]

    def paint(axes: Axes) -> None:
        colors = [PAPER if drop.outcome == "filtered" else POOR for drop in shown]
        bars = axes.barh(np.arange(len(shown)), [drop.rows for drop in shown], height=0.62, color=colors)
        axes.bar_label(bars, [f"{drop.rows:,}" for drop in shown], padding=3, fontsize=8, color=INK)
        _horizontal(axes, [f"{drop.reason} · {drop.step}" for drop in shown])
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.margins(x=0.08)

    return draw("drops", "Dropped rows by reason and step", _bars_size(len(shown)), paint)


def spending(models: Sequence[Spending]) -> Markup:
    """Tokens of each model, and its cost where there is any: an embedded model has none."""
    shown = sorted(models, key=lambda spent: -(spent.prompt + spent.completion))[:MOST_BARS]
    paid = any(spent.cost_usd for spent in shown)

    def paint(left: Axes, right: Axes | None = None) -> None:
        tokens = (
            ("prompt, cached", [spent.cached for spent in shown], FAINT),
            ("prompt", [spent.prompt - spent.cached for spent in shown], PAPER),
            ("answer", [spent.completion - spent.reasoning for spent in shown], OURS),
            ("reasoning", [spent.reasoning for spent in shown], GOOD),
        )
        _stacked(left, "tokens", tokens, [spent.model for spent in shown])
        left.xaxis.set_major_formatter(lambda value, _: _short(value))
        if right is not None:
            costs = (
                ("kept", [spent.cost_usd - spent.rejects_cost_usd for spent in shown], OURS),
                ("dropped", [spent.rejects_cost_usd for spent in shown], POOR),
            )
            _stacked(right, "US$", costs, [""] * len(shown))

    size = (WIDE, _bars_size(len(shown))[1] + 0.4)
    says = "Tokens and cost by model" if paid else "Tokens by model"
    return draw("spending", says, size, paint, panels=(1, 2 if paid else 1))


def ages(by_age: Mapping[int, int]) -> Markup:
    """People by age."""

    def paint(axes: Axes) -> None:
        _histogram(axes, Counted(None, by_age), "age in years", None)
        axes.set_ylabel("people")

    return draw("ages", "Distribution of ages", (WIDTH, 2.0), paint)


def _bars_size(bars: int) -> tuple[float, float]:
    return WIDTH, 0.75 + BAR * max(bars, 1)


def _horizontal(axes: Axes, names: Sequence[str]) -> None:
    """Name horizontal bars, the first at the top."""
    axes.set_yticks(np.arange(len(names)), [_label(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.grid(axis="y", visible=False)
    axes.spines["left"].set_visible(False)


def _stacked(axes: Axes, unit: str, parts: Sequence[tuple[str, Sequence[float], str]], names: Sequence[str]) -> None:
    """Draw one bar a name, its parts (label, lengths, colour) end to end."""
    start = np.zeros(len(names))
    for label, lengths, color in parts:
        axes.barh(np.arange(len(names)), lengths, left=start, height=0.62, color=color, label=label)
        start += lengths
    _horizontal(axes, names)
    axes.set_xlabel(unit)
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=len(parts), columnspacing=1.0, handlelength=1.2)


def _label(name: str, longest: int = 34) -> str:
    shown = visible(name).replace("\n", " ")
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def _histogram(axes: Axes, counted: Counted, what: str, paper_mean: float | None) -> None:
    if counted.values:
        low, high = min(counted.values), max(counted.values)
        width = math.ceil((high - low + 1) / BINS)
        edges = [edge - 0.5 for edge in range(low, high + width + 1, width)]
        axes.hist(list(counted.values), edges, weights=list(counted.values.values()), color=OURS, rwidth=0.92)
    if counted.spread is not None:
        axes.axvline(counted.spread.mean, color=INK, linewidth=1.2, label=f"mean {counted.spread.mean:,.1f}")
    if paper_mean is not None:
        axes.axvline(paper_mean, color=PAPER, linewidth=1.2, linestyle="--", label=f"paper {paper_mean:,.1f}")
    axes.set_xlabel(what)
    axes.set_ylabel("records")
    axes.grid(axis="x", visible=False)
    axes.yaxis.set_major_locator(MaxNLocator(4, integer=True))
    axes.xaxis.set_major_locator(MaxNLocator(6, integer=True))


def _strip(axes: Axes, column: Column, lanes: Sequence[Lane]) -> None:
    """Draw one metric: a mark in its lane for each row that has it."""
    for place, (_, marker, color, rows) in enumerate(lanes):
        values = [value for row in rows if (value := row.value(column)) is not None]
        axes.plot(values, [place] * len(values), marker, color=color, markersize=6, alpha=0.85)
    _horizontal(axes, [name for name, *_ in lanes])
    axes.xaxis.set_major_locator(MaxNLocator(4))
    axes.set_title(f"{column.heading} {'↑' if column.better == 'higher' else '↓'}", loc="left", fontsize=9, color=INK)


def _short(value: float) -> str:
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"
