"""Pictures as PNG files: one style, a palette that colour-blind readers can tell apart, the same bytes every time."""

import warnings
from collections.abc import Callable
from io import BytesIO
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

INK, FAINT = "#2b2f33", "#b9bec4"
# Okabe and Ito's palette, without its yellow, which is too light for lines on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#56B4E9", "#E69F00", "#000000")
TARGET, OTHER = PALETTE[1], PALETTE[0]
DASHES = ("-", "--", ":", "-.")
SHAPES = ("o", "s", "^", "D")

_STYLE: dict[Any, Any] = {  # matplotlib types its keys one by one
    "text.parse_math": False,  # a method's name may hold dollar signs
    "font.size": 9.0,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": FAINT,
    "axes.titlesize": 9.5,
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": FAINT,
    "grid.alpha": 0.45,
    "grid.linewidth": 0.5,
    "xtick.color": FAINT,
    "ytick.color": FAINT,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "xtick.major.size": 0,
    "ytick.major.size": 0,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.6,
    "figure.constrained_layout.use": True,
}
_DOTS_PER_INCH = 160


def png(size_in: tuple[float, float], paint: Callable[..., None], *, panels: tuple[int, int] = (1, 1)) -> bytes:
    """Return a picture as PNG.

    Args:
        size_in: width and height in inches.
        paint: draws on the axes it is given, one argument a panel.
        panels: rows and columns of axes.
    """
    with mpl.rc_context(_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")  # a box stands for it
        figure = Figure(figsize=size_in)
        axes: list[Axes] = list(figure.subplots(*panels, squeeze=False).flat)
        paint(*axes)
        written = BytesIO()
        figure.savefig(written, format="png", dpi=_DOTS_PER_INCH, metadata={"Software": None})
    return written.getvalue()
