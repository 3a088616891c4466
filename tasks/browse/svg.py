"""Pictures of the report on a page that allows no inline style: the same looks as attributes of the elements."""

import re
from html import escape, unescape

from markupsafe import Markup

_STYLE = re.compile(r' style="([^"]*)"')


def without_styles(svg: str) -> Markup:
    """Turn each ``style`` of an SVG that ``tasks.report.drawing`` made into presentation attributes.

    All that it writes there (fill, stroke, font-size, text-anchor, ...) is an attribute of SVG by the same name.
    """
    return Markup(_STYLE.sub(lambda found: _attributes(unescape(found[1])), svg))


def _attributes(style: str) -> str:
    rules = (rule.partition(":") for rule in style.split(";"))
    return "".join(f' {name.strip()}="{escape(value.strip())}"' for name, colon, value in rules if colon)
