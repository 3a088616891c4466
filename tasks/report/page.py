"""A record set as one HTML file: no script, no network, nothing but its own text, style and pictures.

What a model wrote is escaped by the templates and its control characters are named; the content security policy in the
head forbids scripts and requests on top of that.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from tasks.report import formats, pictures
from tasks.report.compare import Comparison, compare
from tasks.report.domains import categories
from tasks.report.figures import Summary, share
from tasks.report.marks import visible
from tasks.report.notices import notices
from tasks.report.paper import PAPER
from tasks.report.view import UNGROUPED, view

COLORS = 8  # in the style sheet; more groups than that begin again, and their numbers tell them apart


def report_page(
    name: str, summary: Summary, records: Sequence[Mapping[str, Any]], rejects: Sequence[Mapping[str, Any]]
) -> str:
    """Write the report of one record set.

    Args:
        name: of the set.
        summary: its figures.
        records: rows of the records table to show whole, see ``tasks.report.examples.pick``.
        rejects: rows of the rejects table to show.
    """
    comparison = compare({name: summary})
    return _TEMPLATES.get_template("report.html.jinja").render(
        name=name,
        summary=summary,
        notices=notices(summary),
        comparison=comparison,
        examples=[view(row) for row in records],
        rejects=rejects,
        paper=PAPER.set,
        categories=categories(summary),
        pictures=pictures,
    )


def comparison_page(comparison: Comparison) -> str:
    """Write the page of several sets side by side."""
    return _TEMPLATES.get_template("compare.html.jinja").render(comparison=comparison, pictures=pictures)


def _color(group: int) -> int:
    return UNGROUPED if group == UNGROUPED else (group - 1) % COLORS + 1


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("tasks.report"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": formats.count,
        "fixed": formats.fixed,
        "signed": formats.signed,
        "percent": formats.percent,
        "usd": formats.usd,
        "color": _color,
        "visible": visible,
    }
    environment.globals |= {"share": share}
    return environment


_TEMPLATES = _environment()
