"""An evaluation in the terminal: PV Tables 4 and 5, ours in colour beside the paper's, and what was not judged."""

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tasks.evaluation.bootstrap import Rate
from tasks.evaluation.figures import Scores
from tasks.evaluation.report.tables import LEAK_HEADINGS, TITLES, Block, table4, table5
from tasks.evaluation.report.view import EvaluationView
from tasks.report.formats import NOTHING, percent
from tasks.report.marks import visible

SHORT_HEADINGS = ("attrs", "a rec.", "recs", "kept", "a rec.", "recs", "full")


def render_scores(view: EvaluationView) -> RenderableType:
    """Lay out the figures of an evaluation beside those of others and the paper's."""
    parts: list[RenderableType] = [Text(visible(f"{view.dataset}: {view.name}"), style="bold")]
    parts += [
        render_block(block, SHORT_HEADINGS, "sanitized (3), retained (3), full success, in %")
        for block in table4(view.evaluations)
    ]
    parts += [
        render_block(block, tuple(LEAK_HEADINGS.values()), "kinds of leaks, in %") for block in table5(view.evaluations)
    ]
    parts += [line for name, scores in view.sets.items() for line in _remarks(TITLES[name], scores)]
    return Group(*parts)


def render_block(block: Block, headings: tuple[str, ...], says: str) -> Table:
    """Lay out one table of rates."""
    table = Table(title=f"{block.title}: {says}", title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    table.padding = (0, 1, 0, 0)
    table.add_column("sanitizer", overflow="fold")
    table.add_column("n", justify="right")
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
    for row in block.rows:
        style = "bold cyan" if row.source == "ours" else "dim"
        name = visible(row.name) + ("" if row.source == "ours" else ", paper")
        cells = [name, "" if row.records is None else f"{row.records:,}", *map(_cell, row.rates)]
        table.add_row(*(Text(cell, style=style) for cell in cells))
    return table


def _cell(rate: Rate) -> str:
    if rate.value is None:
        return NOTHING
    interval = "" if rate.low is None or rate.high is None else f"\n{100 * rate.low:.0f}–{100 * rate.high:.0f}"
    return f"{100 * rate.value:.1f}{interval}"


def _remarks(title: str, scores: Scores) -> list[Text]:
    said = []
    if scores.short:
        full = percent(scores.without_short.full_record.value)
        said.append(f"values of one or two characters: {scores.short:,}; full success without them: {full}")
    if scores.unjudged:
        said.append(f"facts not judged: {scores.unjudged:,}; records open for that alone: {scores.undecided_records:,}")
    if scores.no_output:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(scores.no_output.items()))
        said.append(f"records without output: {sum(scores.no_output.values()):,} ({reasons})")
    if scores.agreement:
        said.append(
            f"two evaluators agree on {percent(scores.agreement.share)} of {scores.agreement.pairs:,} pairs of guesses"
        )
    return [Text(visible(f"{title}: {line}")) for line in said]
