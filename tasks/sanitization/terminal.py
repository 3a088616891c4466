"""A triplet in a terminal: the text beside the clean one, each target in its colour.

All text goes through ``visible`` and into ``rich.text.Text``: what a model wrote can neither steer the terminal nor be
taken for markup. Colour is never the only sign: marks are bracketed and numbered.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tasks.report.marks import visible
from tasks.sanitization.changes import Piece
from tasks.sanitization.view import TargetView, TripletView, view

_COLORS = ("cyan", "yellow", "green", "magenta", "blue")  # as many as a record has targets at most
_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_GAP = "‸"  # where something was taken out


def render_triplet(row: Mapping[str, Any]) -> RenderableType:
    """Show a row of the triplets table: the request, the two texts chunk by chunk, and what the colours mean."""
    triplet = view(row)
    shown = f"{triplet.words:,} words, {triplet.sanitized_words:,} after · {triplet.language} · {triplet.model}"
    body = Group(
        Text.assemble(("Request  ", "bold"), _said(triplet.instruction, "italic")),
        Text(),
        _side_by_side(triplet),
        Text(),
        *_legend(triplet),
    )
    return Panel(body, title=_said(triplet.record_id), subtitle=_said(shown), box=box.ROUNDED, padding=(1, 2))


def _said(text: str, style: str = "") -> Text:
    return Text(visible(text), style)


def _style(target: int) -> str:
    return _COLORS[target % len(_COLORS)]


def _side_by_side(triplet: TripletView) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, expand=True, padding=(0, 2, 0, 0), show_lines=False)
    table.add_column("original", ratio=1)
    table.add_column("clean", ratio=1)
    for change in triplet.changes:
        table.add_row(_text(change.before, "underline"), _text(change.after, "bold"))
    return table


def _text(pieces: Sequence[Piece], emphasis: str) -> Text:
    text = Text()
    for piece in pieces:
        if piece.target is None:
            text.append(visible(piece.text), "underline dim" if piece.kept else "")
            continue
        color = _style(piece.target)
        text.append("[", "dim").append(visible(piece.text) or _GAP, f"{emphasis} {color}").append("]", "dim")
        text.append(str(piece.target + 1).translate(_SUPERSCRIPT), color)
    text.rstrip()  # the blank lines that a chunk ends with are those between rows
    return text


def _legend(triplet: TripletView) -> Iterator[RenderableType]:
    for target in triplet.targets:
        color = _style(target.number - 1)
        chunks = f"{target.chunks} chunk{'' if target.chunks == 1 else 's'}" if target.chunks else "gone with another"
        yield Text.assemble(
            (f"{target.number} ", f"bold {color}"), _said(target.name, "bold"), (f"  {target.done}, {chunks}", "dim")
        )
        yield Padding(Text("\n").join(_facts(target)), (0, 0, 0, 2))
    if triplet.kept:
        kept = Text("; ").join(Text.assemble(_said(key, "dim"), ": ", _said(value)) for key, value in triplet.kept)
        yield Text.assemble(("= to stay as it is  ", "bold"), kept)
    if not triplet.verified:
        yield Text("! a value still stands in the clean text: this triplet is kept out of training", "bold red")


def _facts(target: TargetView) -> Iterator[Text]:
    for key, value in target.facts:
        leaks = (" still stands", "bold red") if value in target.leaks else ""
        yield Text.assemble(_said(key, "dim"), ": ", _said(value), leaks)
    if target.instruction:
        yield _said(f"→ {target.instruction}", "italic dim")
