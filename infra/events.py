"""Events of ours on Prefect's bus, for automations: numbers and names of what was committed, never text of a record.

They are sent by the process of the flow run, once the manifest says so. An event that is sent twice (the process died
between the commit and the end of its task, for instance) carries the same id, by which the server knows it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import NAMESPACE_URL, UUID, uuid5

from prefect.events import emit_event

from infra.shards.layout import Layout
from infra.shards.manifest import ShardRecord
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore

SHARD_COMMITTED = "shard.committed"
SHARD_QUARANTINED = "shard.quarantined"
BUDGET_REACHED = "run.budget_reached"


@dataclass(frozen=True, slots=True)
class Told:
    """One event, as it goes to Prefect.

    Attributes:
        id: the same whenever the same is told again; None for a new one each time.
    """

    event: str
    resource: dict[str, str]
    related: list[dict[str, str]]
    payload: dict[str, object]
    occurred: datetime | None = None
    id: UUID | None = None

    def emit(self) -> None:
        """Hand it to the thread that sends events; nobody waits for it."""
        emit_event(
            self.event,
            self.resource,
            occurred=self.occurred,
            related=self.related,
            payload=self.payload,
            id=self.id,
        )


def shard_committed(store: StageStore, shard: ShardRange) -> None:
    """Tell that ``shard`` was committed, and that rows of it are in quarantine where some are.

    Raises:
        KeyError: it is not committed.
    """
    for told in of_commit(store.layout, store.manifest.record(shard)):
        told.emit()


def budget_reached(layout: Layout, limit_usd: float, spent_usd: float) -> None:
    """Tell that a run begins nothing new, because its stage has cost what it may."""
    of_budget(layout, limit_usd, spent_usd).emit()


def of_commit(layout: Layout, record: ShardRecord) -> list[Told]:
    """Return what there is to tell of a commit."""
    events = [_of(SHARD_COMMITTED, layout, record, _figures(record))]
    if quarantined := _count(record, "quarantined"):
        reasons: dict[str, object] = dict(record.summary.reasons)
        events.append(_of(SHARD_QUARANTINED, layout, record, {"quarantined": quarantined, "reasons": reasons}))
    return events


def of_budget(layout: Layout, limit_usd: float, spent_usd: float) -> Told:
    """Return what there is to tell of a budget that is spent."""
    stage = layout.manifest.name
    return Told(
        BUDGET_REACHED,
        _resource(layout, f"privasis.stage.{_dataset(layout)}.{stage}", stage),
        _related(layout),
        {"limit_usd": limit_usd, "spent_usd": spent_usd},
    )


def _of(event: str, layout: Layout, record: ShardRecord, payload: Mapping[str, object]) -> Told:
    name = f"{_dataset(layout)}.{record.stage}.{record.shard.name}"
    # A shard that is made again is committed under a higher token, so each commit has an id of its own.
    key = f"{event} {layout.manifest} {record.shard.name} {record.fencing_token} {record.created_at.isoformat()}"
    return Told(
        event,
        _resource(layout, f"privasis.shard.{name}", f"{record.stage} {record.shard.name}"),
        _related(layout),
        {"shard": record.shard.name, "stage": record.stage, **payload},
        record.created_at,
        uuid5(NAMESPACE_URL, key),
    )


def _figures(record: ShardRecord) -> dict[str, object]:
    summary = record.summary
    return {
        "rows": record.rows,
        "tables": {table: file.rows for table, file in record.files.items()},
        "rejected": sum(summary.reasons.values()),
        "quarantined": _count(record, "quarantined"),
        "calls": summary.calls,
        "tokens": summary.tokens.prompt + summary.tokens.completion,
        "cost_usd": summary.cost_usd,
        "spec_hash": record.spec_hash,
    }


def _count(record: ShardRecord, note: str) -> int:
    value = record.summary.notes.get(note, 0)
    return value if isinstance(value, int) else 0


def _resource(layout: Layout, id_: str, name: str) -> dict[str, str]:
    return {
        "prefect.resource.id": id_,
        "prefect.resource.name": name,
        "privasis.dataset": _dataset(layout),
        "privasis.root": str(layout.manifest.parents[2]),
        "privasis.stage": layout.manifest.name,
    }


def _related(layout: Layout) -> list[dict[str, str]]:
    return [{"prefect.resource.id": f"privasis.dataset.{_dataset(layout)}", "prefect.resource.role": "dataset"}]


def _dataset(layout: Layout) -> str:
    return layout.manifest.parents[1].name
