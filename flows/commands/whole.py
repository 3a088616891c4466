"""Prints tables whose cells are names that somebody copies, or a program cuts out: none of them is ever shortened."""

from rich.console import Console
from rich.table import Table

_UNBOUNDED = 10_000  # columns


def print_whole(console: Console, table: Table) -> None:
    """Print ``table`` as wide as it is; in a terminal that is narrower, cells go on in the next line of the cell."""
    for column in table.columns:
        if not column.no_wrap:
            column.overflow = "fold"
    terminal = console.width
    if not console.is_terminal:
        unbounded = console.options.update(width=_UNBOUNDED)
        console.width = max(terminal, console.measure(table, options=unbounded).maximum)
    console.print(table)
    console.width = terminal
