"""What a run has made, shard by shard, and what its data set has cost: tables on the run's page, without any text."""

from collections.abc import Iterator
from typing import Any

from prefect.artifacts import create_table_artifact

from flows.artifacts.markdown import cell
from flows.artifacts.run import key_of
from flows.commands.cost import lines_of
from infra.shards.location import Location
from infra.shards.manifest import ShardRecord
from infra.shards.plan import Plan, PlannedShard
from infra.shards.store import StageStore

MOST_ROWS = 500  # of a table that a browser shows whole
_FIRST = ("missing", "open", "held", "stale", "committed")  # what is not done is looked for


def tell_shards(store: StageStore, planned: Plan) -> None:
    """Write the table of shards.

    Args:
        store: of the stage.
        planned: how its shards stand now.
    """
    shards = sorted(planned.shards, key=lambda each: (_FIRST.index(each.state), each.shard))
    counts = ", ".join(f"{count:,} {state}" for state, count in planned.counts().items())
    shown = "" if len(shards) <= MOST_ROWS else f"; the first {MOST_ROWS:,} of {len(shards):,}"
    dataset = store.layout.manifest.parents[1].name
    create_table_artifact(
        [shard_row(store, each) for each in shards[:MOST_ROWS]],
        key=key_of("shards", dataset, store.stage),
        description=f"Shards of {cell(dataset)}, {store.stage}: {counts or 'none'}{shown}",
    )


def shard_row(store: StageStore, planned: PlannedShard) -> dict[str, Any]:
    """Return a shard's line: what the plan says, and of a committed one what the manifest says."""
    row: dict[str, Any] = {"shard": planned.shard.name, "state": planned.state, "why": cell(planned.reason)}
    if planned.state not in ("committed", "stale"):
        return row
    return row | dict(_figures(store.manifest.record(planned.shard)))


def _figures(record: ShardRecord) -> Iterator[tuple[str, Any]]:
    summary = record.summary
    for table, file in record.files.items():
        yield table, f"{file.rows:,}"
    yield "reasons", cell(", ".join(f"{count:,} {reason}" for reason, count in summary.reasons.items()))
    yield "calls", f"{summary.calls:,}"
    yield "tokens", f"{summary.tokens.prompt + summary.tokens.completion:,}"
    yield "cost, USD", f"{summary.cost_usd:.4f}"
    yield "committed", record.created_at.isoformat(timespec="seconds")


def tell_cost(folder: Location) -> None:
    """Write the table of what the data set in ``folder`` has cost, by stage, model and step."""
    create_table_artifact(
        [
            dict(zip(("stage", "model", "step"), map(cell, line.group), strict=True))
            | {
                "calls": f"{line.calls:,}",
                "failed tries": f"{line.failed_tries:,}",
                "tokens read": f"{line.prompt:,}",
                "tokens written": f"{line.completion:,}",
                "cost, USD": f"{line.cost_usd:.4f}" if not line.unpriced else f"{line.cost_usd:.4f} and unknown",
            }
            for line in lines_of([folder], ["stage", "model", "step"])
        ],
        key=key_of("cost", folder.name),
        description=f"What the finished shards of {cell(folder.name)} have cost",
    )
