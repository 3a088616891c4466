"""The templates of pages: a package's own, beside those that all reports share."""

import jinja2

from tasks.report import formats
from tasks.report.marks import visible


def page_templates(package: str) -> jinja2.Environment:
    """Return the templates of ``package``; all that is put into them is escaped, and nothing may be missing."""
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package), jinja2.PackageLoader("tasks.report")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {
        "count": formats.count,
        "fixed": formats.fixed,
        "percent": formats.percent,
        "visible": visible,
    }
    return environment
