"""Templates of a local web application: its own package's, over the frame that all of them share."""

from collections.abc import Callable, Mapping
from typing import Any

import jinja2


def web_templates(
    *packages: str, filters: Mapping[str, Callable[..., Any]] = {}, globals_: Mapping[str, Any] = {}
) -> jinja2.Environment:
    """Return the templates of ``packages``, the first that has a name wins, and ``base.html.jinja`` of this one.

    All that is put into them is escaped, and nothing may be missing. The base wants ``app`` (name of the application).
    Blocks: ``title``, ``crumbs`` (a list of links in the head), ``tools`` (right in the head), ``content``, ``keys``
    (rows of the table of keys), ``scripts``.
    """
    environment = jinja2.Environment(
        loader=jinja2.ChoiceLoader([jinja2.PackageLoader(package) for package in (*packages, "infra.web")]),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= dict(filters)
    environment.globals |= dict(globals_)
    return environment
