"""A record set, a record and a comparison in a terminal.

All text goes through ``visible`` and into ``rich.text.Text``: what a model wrote can neither steer the terminal nor be
taken for markup. Colour is never the only sign: marks are bracketed, underlined and numbered.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from tasks.report.compare import Comparison, Row
from tasks.report.compare import Table as ComparedTable
from tasks.report.figures import Summary
from tasks.report.formats import count, fixed, percent, signed, usd
from tasks.report.marks import visible
from tasks.report.notices import notices
from tasks.report.paper import PAPER
from tasks.report.view import UNGROUPED, RecordView, view

MOST_DROPS = 8

_COLORS = ("cyan", "yellow", "green", "magenta", "blue", "red", "bright_cyan", "bright_yellow")
_SUPERSCRIPT = str.maketrans("0123456789,", "⁰¹²³⁴⁵⁶⁷⁸⁹·")


def render_summary(summary: Summary) -> RenderableType:
    """Show the figures of a record set on one screen."""
    parts: list[RenderableType] = [_figures(summary)]
    if summary.refinement:
        parts += [Text(), _refinement(summary)]
    if summary.drops:
        parts += [Text(), _drops(summary)]
    warnings = Table.grid(padding=(0, 1))
    for notice in notices(summary):
        warnings.add_row(Text("!", "bold yellow"), Text(notice))
    return Group(*parts, Text(), warnings)


def render_record(row: Mapping[str, Any]) -> RenderableType:
    """Show a row of the records table: its text with attributes marked, then what they mean.

    Raises:
        ValueError: a span lies outside the text.
    """
    record = view(row)
    kind = f"{record.domain} › {record.subcategory} · {record.words} words · {record.language} · {record.model}"
    body = Group(_text(record), Text(), *_legend(record))
    return Panel(body, title=_said(record.title), subtitle=_said(kind), box=box.ROUNDED, padding=(1, 2))


def render_compare(comparison: Comparison) -> RenderableType:
    """Show the tables of several sets beside the paper's."""
    return Group(*(_compared(table) for table in comparison.tables))


def _said(text: str, style: str = "") -> Text:
    return Text(visible(text), style)


def _figures(summary: Summary) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("")
    table.add_column("this set", justify="right", style="bold")
    table.add_column("paper", justify="right", style="dim")
    for name, ours, theirs in _rows(summary):
        table.add_row(Text(name), Text(ours), Text(theirs))
    return table


def _rows(summary: Summary) -> Iterator[tuple[str, str, str]]:
    facts, whole = PAPER.set, summary.whole
    means = {
        name: None if counted.spread is None else counted.spread.mean
        for name, counted in (("words", summary.words), ("attributes", summary.attributes), ("groups", summary.groups))
    }
    tokens = sum(spent.prompt + spent.completion for spent in summary.spending)
    yield "records", f"{summary.records:,} of {summary.records + summary.rejects:,} rows", f"{facts.records:,}"
    yield "kept", percent(summary.kept_share), f"{facts.kept_share:.0%}"
    yield "different texts", count(summary.repetition.distinct_texts), ""
    yield "words a record", fixed(means["words"]), fixed(facts.text_words)
    yield "attributes a record", fixed(means["attributes"]), fixed(facts.attributes_a_record)
    yield "of them in the text", percent(summary.grounded_share), ""
    yield "groups a record", fixed(means["groups"]), fixed(facts.groups_a_record)
    full = PAPER.table9[-1]
    yield "MATTR", fixed(whole.mattr, 3), fixed(full.mattr, 3)
    yield "bigram diversity", fixed(whole.bigram_diversity, 3), fixed(full.bigram_diversity, 3)
    yield "entropy, bits", fixed(whole.entropy_bits, 2), fixed(full.entropy_bits, 2)
    yield "cosine", fixed(whole.cosine, 3), fixed(full.cosine, 3)
    yield f"Vendi of {whole.vendi_vectors:,} records", fixed(whole.vendi), f"{full.vendi} of {full.records}"
    yield "model calls", count(sum(spent.calls for spent in summary.spending)), ""
    yield "tokens", count(tokens), ""
    yield "cost", usd(summary.cost_usd), ""


def _refinement(summary: Summary) -> Table:
    table = Table(title="Refinement", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("step", "judged", "preferred", "unparsable", "accepted", "Vendi gain"):
        table.add_column(heading, justify="right")
    for step in summary.refinement:
        counts = (step.step, step.offered, step.preferred, step.unparsable, step.accepted)
        table.add_row(*map(count, counts), signed(step.vendi_gain))
    return table


def _drops(summary: Summary) -> Table:
    table = Table(title="Dropped", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("rows", justify="right")
    for heading in ("reason", "step", "outcome"):
        table.add_column(heading)
    for drop in summary.drops[:MOST_DROPS]:
        table.add_row(count(drop.rows), _said(drop.reason), _said(drop.step), _said(drop.outcome))
    rest = sum(drop.rows for drop in summary.drops[MOST_DROPS:])
    if rest:
        table.add_row(count(rest), Text("for other reasons"))
    return table


def _style(group: int) -> str:
    return "dim" if group == UNGROUPED else _COLORS[(group - 1) % len(_COLORS)]


def _text(record: RecordView) -> Text:
    text = Text()
    for piece in record.pieces:
        if not piece.keys:
            text.append(visible(piece.text))
            continue
        text.append("[" if piece.opens else "", "dim")
        text.append(visible(piece.text), f"underline {_style(piece.inner)}")
        if piece.closes:
            numbers = ",".join(str(number) for number in piece.numbers if number != UNGROUPED)
            text.append("]", "dim").append(numbers.translate(_SUPERSCRIPT), _style(piece.outer))
    return text


def _legend(record: RecordView) -> Iterator[RenderableType]:
    """One line a group: its number, its name, and its attributes with their values."""
    for group in record.groups:
        yield Text.assemble((f"{group.number} ", f"bold {_style(group.number)}"), _said(group.name, "bold"))
        yield Padding(_attributes(record, group.number), (0, 0, 0, 2))
    if record.has_ungrouped:
        yield Text("· in no group", "bold")
        yield Padding(_attributes(record, UNGROUPED), (0, 0, 0, 2))


def _attributes(record: RecordView, group: int) -> Text:
    members = [each for each in record.attributes if group in each.groups or (group == UNGROUPED and not each.groups)]
    lines = (
        Text.assemble(
            _said(each.key, "dim"), ": ", _said(each.value), "" if each.grounded else (" (not in the text)", "dim")
        )
        for each in members
    )
    return Text("\n").join(lines)


def _compared(compared: ComparedTable) -> Table:
    table = Table(
        title=f"{compared.title}, in the layout of the paper's {compared.name}",
        title_justify="left",
        box=box.SIMPLE_HEAD,
    )
    table.add_column("set", overflow="fold")
    arrows = {"higher": " ↑", "lower": " ↓", "": ""}
    for column in compared.columns:
        table.add_column(column.short + arrows[column.better], justify="right")
    for block in compared.blocks:
        for row in block:
            figures = (fixed(row.value(column), column.digits) for column in compared.columns)
            table.add_row(_name(row), *figures, style="bold cyan" if row.source == "ours" else "")
        table.add_section()
    return table


def _name(row: Row) -> Text:
    origin = {"ours": "", "paper": " (paper)", "human": " (paper, human-written)"}[row.source]
    return Text.assemble(_said(row.name), (origin, "dim"))
