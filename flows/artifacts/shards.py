"""What a run has made, shard by shard, and what its data set has cost: tables on the run's page, without any text."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from prefect.artifacts import create_table_artifact

from flows.artifacts.markdown import cell
from flows.artifacts.run import artifact_only, key_of
from flows.commands.cost import lines_of
from infra.shards.failures import FailureNotes
from infra.shards.location import Location
from infra.shards.manifest import ShardRecord
from infra.shards.plan import Plan, State
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore

MOST_ROWS = 500  # of a table that a browser shows whole
LONGEST = 300  # characters of an error: some servers answer with a page

Shown = State | Literal["failed"]  # "failed" is not finished, and its last attempt has left a note of why
# What to do about each, those first that want something done.
NEXT: Mapping[Shown, str] = {
    "failed": "mend what it says, then run again; the backfill with state failed makes these alone",
    "open": "run again: it goes on where it was",
    "missing": "run again",
    "held": "wait: another process works on it",
    "stale": "run again with reprocess stale",
    "committed": "",
}


@dataclass(frozen=True, slots=True)
class Standing:
    """How a shard stands.

    Attributes:
        why: what there is to say of its state.
    """

    shard: ShardRange
    state: Shown
    why: str


def tell_shards(store: StageStore, planned: Plan) -> None:
    """Write the table of shards.

    Args:
        store: of the stage.
        planned: how its shards stand now.
    """
    shards = standings(store, planned)
    counts = ", ".join(f"{count:,} {state}" for state, count in Counter(each.state for each in shards).items())
    shown = "" if len(shards) <= MOST_ROWS else f"; the first {MOST_ROWS:,} of {len(shards):,}"
    dataset = store.layout.manifest.parents[1].name
    with artifact_only("table of shards"):
        create_table_artifact(
            [shard_row(store, each) for each in shards[:MOST_ROWS]],
            key=key_of("shards", dataset, store.stage),
            description=f"Shards of {cell(dataset)}, {store.stage}: {counts or 'none'}{shown}",
        )


def standings(store: StageStore, planned: Plan) -> list[Standing]:
    """Return how every shard stands, those first that want something done."""
    finished = {each.shard for each in planned.shards if each.state in ("committed", "stale")}
    notes = FailureNotes(store.layout).all(but=finished)
    order = tuple(NEXT)
    found = [
        Standing(each.shard, "failed", str(notes[each.shard])[:LONGEST])
        if each.shard in notes and each.state != "held"
        else Standing(each.shard, each.state, each.reason)
        for each in planned.shards
    ]
    return sorted(found, key=lambda each: (order.index(each.state), each.shard))


def shard_row(store: StageStore, standing: Standing) -> dict[str, Any]:
    """Return a shard's line: how it stands, what to do, and of a finished one what the manifest says."""
    row: dict[str, Any] = {"shard": standing.shard.name, "state": standing.state, "why": cell(standing.why)}
    row["next"] = NEXT[standing.state]
    if standing.state not in ("committed", "stale"):
        return row
    return row | dict(_figures(store.manifest.record(standing.shard)))


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
    rows = [
        dict(zip(("stage", "model", "step"), map(cell, line.group), strict=True))
        | {
            "calls": f"{line.calls:,}",
            "failed tries": f"{line.failed_tries:,}",
            "tokens read": f"{line.prompt:,}",
            "tokens written": f"{line.completion:,}",
            "cost, USD": f"{line.cost_usd:.4f}" if not line.unpriced else f"{line.cost_usd:.4f} and unknown",
        }
        for line in lines_of([folder], ["stage", "model", "step"])
    ]
    with artifact_only("cost"):
        create_table_artifact(
            rows,
            key=key_of("cost", folder.name),
            description=f"What the finished shards of {cell(folder.name)} have cost",
        )
