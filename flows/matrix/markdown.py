"""The matrix as an artifact of a run: Markdown that a dashboard shows, without any text of a record."""

from collections.abc import Iterator, Sequence

from prefect.artifacts import create_markdown_artifact

from flows.artifacts.markdown import escaped
from flows.artifacts.run import artifact_only, key_of
from flows.matrix.look import Matrix
from infra.shards.matrix import GRAVEST, CellState, named

MOST_STRETCHES = 200


def tell_matrix(found: Matrix) -> None:
    """Write the artifact of the run that is under way."""
    name = found.folder.name
    with artifact_only("matrix"):
        create_markdown_artifact(
            matrix_markdown(found), key=key_of("matrix", name), description=f"Where the shards of {escaped(name)} stand"
        )


def matrix_markdown(found: Matrix) -> str:
    """Return a table of counts, and every stretch of shards that is not finished."""
    there = {state for row in found.rows for state in row.counts()}
    states = [state for state in reversed(GRAVEST) if state in there]
    lines = [
        f"| {' | '.join(['stage', 'shards', *states, 'rows', 'filtered', 'quarantined'])} |",
        f"| --- |{' ---: |' * (len(states) + 4)}",
        *_table(found, states),
        "",
    ]
    stretches = list(_stretches(found))
    lines += stretches[:MOST_STRETCHES]
    if len(stretches) > MOST_STRETCHES:
        lines.append(f"- and {len(stretches) - MOST_STRETCHES:,} more")
    return "\n".join(lines)


def _table(found: Matrix, states: Sequence[CellState]) -> Iterator[str]:
    for row in found.rows:
        counts = row.counts()
        figures = [len(row.cells), *(counts[state] for state in states), row.kept, row.filtered, row.quarantined]
        yield f"| {escaped(row.stage)} | {' | '.join(f'{figure:,}' for figure in figures)} |"


def _stretches(found: Matrix) -> Iterator[str]:
    for row in found.rows:
        for state, why, cells in row.stretches():
            reason = f": {escaped(why)}" if why else ""
            yield f"- {escaped(row.stage)}, **{state}**, {escaped(named(cells))}{reason}"
