"""Chunk sizes side by side (PV Figure 5): a picture, a page and figures for a program."""

import json
from collections.abc import Mapping
from dataclasses import asdict

from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator, PercentFormatter

from tasks.evaluation.bootstrap import Rate
from tasks.evaluation.figures import Scores
from tasks.evaluation.report.page import TEMPLATES
from tasks.evaluation.report.tables import HEADINGS, Block, Row
from tasks.report.drawing import GOOD, OURS, PAPER, draw

SIZE_IN = (7.5, 3.4)
PAPERS_BEST = 512  # characters, of 128 to 2048

_LINES = (("full_record", "full success", OURS), ("record", "sanitized", PAPER), ("kept_record", "retained", GOOD))


def chunk_size_picture(by_size: Mapping[int, Scores]) -> Markup:
    """Draw the three shares of records by chunk size, with their intervals."""
    sizes = sorted(by_size)

    def paint(axes: Axes) -> None:
        for field, label, color in _LINES:
            rates: list[Rate] = [getattr(by_size[size].table4, field) for size in sizes]
            known = [(size, rate) for size, rate in zip(sizes, rates, strict=True) if rate.value is not None]
            places = [size for size, _ in known]
            axes.plot(places, [rate.value or 0.0 for _, rate in known], "o-", color=color, label=label, markersize=5)
            axes.fill_between(
                places,
                [rate.low or 0.0 for _, rate in known],
                [rate.high or 0.0 for _, rate in known],
                color=color,
                alpha=0.15,
                linewidth=0,
            )
        axes.axvline(PAPERS_BEST, color=PAPER, linewidth=1, linestyle="--")
        axes.set_xscale("log", base=2)
        axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=0))
        axes.set_ylim(0, 1.02)
        axes.set_xlabel("characters a chunk, at most; dashed: the paper's best")
        axes.set_ylabel("records")
        axes.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)

    return draw("chunk-sizes", "Shares of records by chunk size, with 95 % intervals", SIZE_IN, paint)


def chunk_size_block(by_size: Mapping[int, Scores]) -> Block:
    """Return PV Table 4's figures, a row a size."""
    rows = tuple(
        Row(
            f"{size:,}",
            "ours",
            by_size[size].records,
            tuple(getattr(by_size[size].table4, column) for column in HEADINGS),
        )
        for size in sorted(by_size)
    )
    return Block("all", "Characters a chunk", rows)


def chunk_size_page(dataset: str, evaluator: str, by_size: Mapping[int, Scores]) -> str:
    """Write the page of a study."""
    return TEMPLATES.get_template("chunk_sizes.html.jinja").render(
        dataset=dataset,
        evaluator=evaluator,
        picture=chunk_size_picture(by_size),
        block=chunk_size_block(by_size),
        headings=HEADINGS.values(),
    )


def chunk_size_json(by_size: Mapping[int, Scores]) -> str:
    """Write the figures for a program, by size."""
    figures = {str(size): asdict(by_size[size]) for size in sorted(by_size)}
    return json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False)
