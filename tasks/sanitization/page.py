"""A handful of triplets as one HTML file: no script, no network, nothing but its own text and style.

What a model wrote is escaped by the templates and its control characters are named; the content security policy in the
head forbids scripts and requests on top of that.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jinja2

from tasks.report import formats
from tasks.report.marks import visible
from tasks.sanitization.view import view

COLORS = 8  # in the style sheet of the report, which has more than a record has targets


def triplets_page(name: str, rows: Sequence[Mapping[str, Any]]) -> str:
    """Write a page about a few rows of the triplets table of the data set ``name``."""
    return _TEMPLATES.get_template("triplets.html.jinja").render(name=name, triplets=[view(row) for row in rows])


def _environment() -> jinja2.Environment:
    report = jinja2.PackageLoader("tasks.report")
    environment = jinja2.Environment(
        # The report's frame asks for a style sheet by name: it gets ours, which begins with the report's.
        loader=jinja2.ChoiceLoader(
            [jinja2.PackageLoader("tasks.sanitization"), jinja2.PrefixLoader({"report": report}), report]
        ),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": formats.count,
        "fixed": formats.fixed,  # a macro that we import another beside asks for it
        "visible": visible,
        "color": lambda target: target % COLORS + 1,
    }
    return environment


_TEMPLATES = _environment()
