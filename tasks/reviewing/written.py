"""The results of a review as Markdown, as a page and for a terminal, and for a program."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from rich.console import Group, RenderableType
from rich.table import Table as Grid
from rich.text import Text

from tasks.report.marks import visible
from tasks.report.templating import page_templates
from tasks.reviewing import picture
from tasks.reviewing.layout import Table, notes_of, tables_of
from tasks.reviewing.paper import PAPER
from tasks.reviewing.results import Results

_TEMPLATES = page_templates("tasks.reviewing")
_TITLE = "Are they natural and coherent?"


def to_json(results: Results) -> str:
    """Write all figures unrounded, and the paper's."""
    paper = {**asdict(PAPER), "difference": asdict(PAPER.difference)}
    return json.dumps(asdict(results) | {"paper": paper}, indent=2, ensure_ascii=False, allow_nan=False)


def to_markdown(results: Results) -> str:
    """Write the tables and notes."""
    parts = [f"# {_TITLE}", *(_markdown(table) for table in tables_of(results))]
    parts.append("\n".join(f"- {_escaped(note)}" for note in notes_of(results)))
    return "\n\n".join(parts) + "\n"


def to_page(results: Results) -> str:
    """Write one HTML file: picture, tables, notes, what reviewers wrote."""
    return _TEMPLATES.get_template("review_results.html.jinja").render(
        title=_TITLE,
        results=results,
        tables=tables_of(results),
        notes=list(notes_of(results)),
        picture=picture.shares(results),
    )


def to_terminal(results: Results) -> RenderableType:
    """Lay out tables and notes for a terminal."""
    parts: list[RenderableType] = []
    for table in tables_of(results):
        parts += [Text(table.title, "bold"), _grid(table), Text()]
    notes = Grid.grid(padding=(0, 1))
    for note in notes_of(results):
        notes.add_row("·", Text(note))
    return Group(*parts, notes)


def _grid(table: Table) -> Grid:
    grid = Grid.grid(padding=(0, 2))
    for number, column in enumerate(table.columns):
        grid.add_column(Text(column, "dim"), justify="right" if number else "left")
    grid.show_header = True
    for number, row in enumerate(table.rows):
        style = "yellow" if number == table.paper else ""
        grid.add_row(*(Text(visible(cell).replace(" [", "\n["), style, no_wrap=True) for cell in row))
    return grid


def _markdown(table: Table) -> str:
    lines: Sequence[Sequence[str]] = [table.columns, ["---", *["---:"] * (len(table.columns) - 1)], *table.rows]
    return f"## {table.title}\n\n" + "\n".join(f"| {' | '.join(map(_escaped, line))} |" for line in lines)


def _escaped(text: str) -> str:
    """Write a cell so that neither a name nor a path ends it."""
    return visible(text).replace("\\", "\\\\").replace("|", "\\|").replace("<", "&lt;").replace("\n", " ")
