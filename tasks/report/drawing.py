"""Matplotlib drawings as inline SVG that takes its colours from the page, so that it reads on light and on dark.

The same numbers give the same bytes: identifiers are hashed with a fixed salt, and the date of drawing is cut off.
"""

import io
import re
import warnings
from collections.abc import Callable
from html import escape
from typing import Any

import matplotlib as mpl
from markupsafe import Markup
from matplotlib.axes import Axes
from matplotlib.figure import Figure

# Stand-ins, each replaced by the style sheet's variable of the same name.
INK, FAINT, OURS, PAPER, GOOD, POOR = "#a0b0c1", "#a0b0c2", "#a0b0c3", "#a0b0c4", "#a0b0c5", "#a0b0c6"
_VARIABLES = {INK: "ink", FAINT: "faint", OURS: "ours", PAPER: "paper", GOOD: "good", POOR: "poor"}

_STYLE: dict[Any, Any] = {  # matplotlib types its keys one by one
    "svg.fonttype": "none",  # text stays text: searchable, and in the page's own font
    "text.parse_math": False,  # a model's name may hold dollar signs
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.alpha": 0.5,
    "grid.linewidth": 0.5,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.labelcolor": INK,
    "figure.constrained_layout.use": True,
}


def draw(
    name: str, says: str, size_in: tuple[float, float], paint: Callable[..., None], *, panels: tuple[int, int] = (1, 1)
) -> Markup:
    """Return an ``<svg>`` element.

    Args:
        name: tells this picture's identifiers from those of others on the page.
        says: what it shows, for those who cannot see it.
        size_in: width and height in inches of 72 points.
        paint: draws on the axes it is given, one argument a panel.
        panels: rows and columns of axes.
    """
    with mpl.rc_context({**_STYLE, "svg.hashsalt": name}), warnings.catch_warnings():
        # The page's font has the glyph that matplotlib's lacks; only its width is guessed.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        figure = Figure(figsize=size_in)
        axes: list[Axes] = list(figure.subplots(*panels, squeeze=False).flat)
        paint(*axes)
        written = io.StringIO()
        figure.savefig(written, format="svg", transparent=True)
    return Markup(_inline(written.getvalue(), says))


def _inline(document: str, says: str) -> str:
    """Cut a stand-alone SVG document down to an element of a page."""
    body = document[document.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"<defs>\s*<style[^>]*>[^<]*</style>\s*</defs>\s*", "", body)
    body = re.sub(r'<g id="[A-Za-z]+[0-9A-Za-z_.]*"', "<g", body)  # figure_1, axes_1, ...: the same in every picture
    body = re.sub(r"font-family: [^;<]*; ", "", body)  # the page's
    for stand_in, variable in _VARIABLES.items():
        body = body.replace(stand_in, f"var(--{variable})")
    view_box = re.search(r'viewBox="[^"]*"', body)
    if view_box is None:
        raise ValueError("matplotlib wrote an SVG without a viewBox")
    return re.sub(
        r"<svg [^>]*>", lambda _: f'<svg {view_box[0]} role="img" aria-label="{escape(says)}">', body, count=1
    )
