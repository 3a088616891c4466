"""The matrix for a terminal: a line of cells a stage, each for some shards, and what is not finished as stretches."""

from collections import Counter
from collections.abc import Iterator, Sequence

from rich.console import Group, RenderableType
from rich.text import Text

from flows.commands.wording import counted
from flows.matrix.look import Matrix
from infra.shards.matrix import GRAVEST, MEANINGS, Cell, CellState, MatrixRow, named
from tasks.report.marks import visible

STYLES: dict[CellState, str] = {
    "damaged": "bold white on red",
    "failed": "bold red",
    "running": "magenta",
    "open": "cyan",
    "missing": "dim",
    "stale": "yellow",
    "committed": "green",
}
SIGNS: dict[CellState, str] = {  # told apart without colours, too
    "damaged": "X",
    "failed": "!",
    "running": ">",
    "open": "o",
    "missing": ".",
    "stale": "~",
    "committed": "█",
}
WIDTH = 64  # cells of a line
MOST_STRETCHES = 12  # of a stage


def matrix_view(found: Matrix) -> RenderableType:
    """Lay it out in lines, which wrap: the columns of a table would be cut where a terminal is narrow."""
    states = [state for state in reversed(GRAVEST) if any(row.counts()[state] for row in found.rows)]
    parts: list[RenderableType] = []
    for row in found.rows:
        parts += _lines(row)
    parts.append(_legend(states, found.rows))
    return Group(*parts)


def _lines(row: MatrixRow) -> Iterator[Text]:
    counts = row.counts()
    head = Text.assemble((visible(row.stage), "bold"), f"  {counted(len(row.cells), 'shard')}: ")
    states = [state for state in reversed(GRAVEST) if counts[state]]
    head.append(Text(", ").join(Text(f"{counts[state]:,} {state}", STYLES[state]) for state in states))
    yield head
    rejected = Text(f"{row.filtered:,} filtered, ").append(
        f"{row.quarantined:,} quarantined", "yellow" if row.quarantined else ""
    )
    yield Text(f"  {counted(row.kept, 'row')} kept, ").append(rejected)
    yield Text.assemble("  ", strip(row.cells))
    stretches = list(row.stretches())
    for state, why, cells in stretches[:MOST_STRETCHES]:
        line = Text.assemble("  ", (state, STYLES[state]), f"  {named(cells)}")
        yield line.append(f"  {visible(why)}" if why else "")
    if len(stretches) > MOST_STRETCHES:
        rest = Counter(state for state, _, cells in stretches[MOST_STRETCHES:] for _ in cells)
        yield Text("  and " + ", ".join(f"{number:,} {state}" for state, number in rest.items()), style="dim")


def strip(cells: Sequence[Cell]) -> Text:
    """Draw the shards as at most ``WIDTH`` signs; one that stands for several shows the gravest of their states."""
    line = Text()
    for start, stop in _parts(len(cells)):
        state = min((cell.state for cell in cells[start:stop]), key=GRAVEST.index)
        line.append(SIGNS[state], style=STYLES[state])
    return line


def _parts(shards: int) -> Iterator[tuple[int, int]]:
    parts = min(shards, WIDTH)
    for part in range(parts):
        yield part * shards // parts, (part + 1) * shards // parts


def _legend(states: Sequence[CellState], rows: Sequence[MatrixRow]) -> Text:
    line = Text("\n")
    for state in states:
        line.append(SIGNS[state], style=STYLES[state]).append(f" {state}: {MEANINGS[state]}\n")
    longest = max((len(row.cells) for row in rows), default=0)
    if longest > WIDTH:
        line.append(f"A sign stands for up to {-(-longest // WIDTH):,} shards, and shows the gravest.\n", style="dim")
    return line
