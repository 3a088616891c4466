"""An explained text in a terminal: backgrounds by surprise, masked runs in brackets, never colour alone."""

from collections.abc import Iterator

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tasks.report.formats import fixed
from tasks.report.marks import visible
from tasks.surprise.explain.view import STEPS, Explained, Piece

# One hue, from the terminal's own background to strong: readable on dark and on light, whatever colours an eye tells.
_HEAT = (
    "",
    "on rgb(255,243,224)",
    "on rgb(255,229,189)",
    "on rgb(254,212,150)",
    "on rgb(253,190,110)",
    "on rgb(250,164,72)",
    "on rgb(240,136,40)",
    "on rgb(222,106,20)",
    "on rgb(196,80,8)",
)
_OPENS, _CLOSES = "⟦", "⟧"
MOST_RUNS = 20


def render(explained: Explained, title: str) -> RenderableType:
    """Show legend, text and what is masked."""
    head = Text(visible(title), "bold")
    parts: list[RenderableType] = [head, Text(figures(explained), "dim"), legend(explained.score_name), Text()]
    parts.append(_text(explained))
    if explained.runs:
        parts += [Text(), _runs(explained)]
    return Group(*parts)


def figures(explained: Explained) -> str:
    """Say in a line what there is, and how it is masked."""
    said = f"{explained.tokens:,} tokens, mean {explained.score_name} {fixed(explained.mean, 2)} nats"
    if explained.masked_tokens is None:
        return said
    return f"{said}; {explained.masked_tokens:,} masked: {explained.rule}"


def legend(score_name: str) -> Text:
    """Say what the colours mean."""
    bounds = [f"<{STEPS[0]:g}", *(f"{step:g}" for step in STEPS)]
    line = Text(f"{score_name} in nats ", "dim")
    for bound, style in zip(bounds, _HEAT, strict=True):
        line.append(f" {bound} ", _on(style))
    line.append(f"  {_OPENS}masked{_CLOSES}", "bold").append("  propagated", "italic underline")
    return line


def _text(explained: Explained) -> Text:
    text = Text()
    for piece in explained.pieces:
        text.append(_OPENS if piece.opens else "", "bold")
        text.append(piece.shown, _style(piece))
        text.append(_CLOSES if piece.closes else "", "bold")
    return text


def _style(piece: Piece) -> str:
    return " ".join(_marks(piece))


def _marks(piece: Piece) -> Iterator[str]:
    yield _on(_HEAT[piece.heat])
    if piece.masked:
        yield "bold"
    if piece.propagated:
        yield "italic underline"


def _on(style: str) -> str:
    return f"black {style}" if style else ""


def _runs(explained: Explained) -> Table:
    table = Table.grid(padding=(0, 2))
    for run in explained.runs[:MOST_RUNS]:
        shown = visible(run.text).replace("\n", "⏎")
        labels = ", ".join(map(visible, run.labels))
        table.add_row(Text(f"{run.start:,}", "dim"), Text(shown), Text(fixed(run.mean, 2)), Text(labels, "dim"))
    if len(explained.runs) > MOST_RUNS:
        table.add_row(Text(""), Text(f"and {len(explained.runs) - MOST_RUNS:,} more", "dim"))
    return table
