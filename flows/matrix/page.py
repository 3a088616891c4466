"""The matrix as one HTML file: no script, no network, everything escaped, for light and dark."""

from itertools import groupby
from typing import Any

from flows.matrix.look import Matrix
from flows.matrix.terminal import SIGNS
from infra.shards.matrix import GRAVEST, MEANINGS, Cell, named
from tasks.report.templating import page_templates

ACROSS = 100  # shards of a line


def matrix_page(found: Matrix) -> str:
    """Write the page."""
    return _TEMPLATES.get_template("matrix.html.jinja").render(
        name=found.folder.name,
        looked_at=found.looked_at.isoformat(timespec="seconds"),
        states=list(reversed(GRAVEST)),
        meanings=MEANINGS,
        signs=SIGNS,
        rows=found.rows,
        blocks=_blocks(found),
        stretches=[
            (row.stage, state, named(cells), why) for row in found.rows for state, why, cells in row.stretches()
        ],
    )


def _blocks(found: Matrix) -> list[dict[str, Any]]:
    """Cut the matrix into blocks of columns that fit a page; stages stand below each other at the same rows."""
    columns = sorted({cell.shard.start for row in found.rows for cell in row.cells})
    blocks = []
    for place in range(0, len(columns), ACROSS):
        inside = columns[place : place + ACROSS]
        lines = []
        for row in found.rows:
            at = {cell.shard.start: cell for cell in row.cells if inside[0] <= cell.shard.start <= inside[-1]}
            lines.append(
                (row.stage, [_run(list(run)) for _, run in groupby((at.get(each) for each in inside), _alike)])
            )
        blocks.append({"first": inside[0], "columns": len(inside), "lines": lines})
    return blocks


def _alike(cell: Cell | None) -> object:
    return None if cell is None else (cell.state, cell.why)


def _run(cells: list[Cell | None]) -> dict[str, Any]:
    """Return neighbours that say the same as one element: thousands of shards make a small page."""
    there = [cell for cell in cells if cell is not None]
    if not there:
        return {"state": "none", "length": len(cells), "title": "no such shard"}
    why = f": {there[0].why}" if there[0].why else ""
    return {"state": there[0].state, "length": len(cells), "title": f"{there[0].state}, {named(there)}{why}"}


_TEMPLATES = page_templates("flows.matrix")
