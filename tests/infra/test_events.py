"""Events of ours: what automations are told, and how often."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from prefect.events.clients import AssertingEventsClient
from prefect.events.worker import EventsWorker

from infra.events import budget_reached, shard_committed
from infra.llm.types import Usage
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore

TABLES = {"records": pa.schema([("record_id", pa.string()), ("text", pa.string())])}
SHARD = ShardRange(0, 2)


@pytest.fixture
def told() -> Iterator[list[AssertingEventsClient]]:
    """Every client that events were sent with."""
    AssertingEventsClient.reset()
    EventsWorker.set_client_override(AssertingEventsClient)
    yield AssertingEventsClient.all
    EventsWorker.drain_all()
    EventsWorker.set_client_override(None)
    AssertingEventsClient.reset()


def committed(root: Path, *, quarantined: int = 0) -> StageStore:
    store = StageStore(root, "mine", "records", TABLES, id_column="record_id")
    rows = pa.table({"record_id": ["a", "b"], "text": ["secret", "text"]}, schema=TABLES["records"])
    with store.acquire(SHARD) as lease:
        store.commit(
            SHARD,
            {"records": rows},
            lease,
            2,
            spec_hash="spec",
            input_hashes={},
            summary=ShardSummary(
                reasons={"no_text": quarantined} if quarantined else {},
                tokens=Usage(prompt=30, completion=12),
                calls=4,
                cost_usd=0.25,
                notes={"quarantined": quarantined},
            ),
        )
    return store


def test_a_commit_is_told_with_its_figures_and_without_any_text(
    tmp_path: Path, told: list[AssertingEventsClient]
) -> None:
    shard_committed(committed(tmp_path), SHARD)
    EventsWorker.drain_all()
    (event,) = [event for client in told for event in client.events]
    assert event.event == "shard.committed"
    assert event.resource.id == f"privasis.shard.mine.records.{SHARD.name}"
    assert event.resource["privasis.dataset"] == "mine"
    assert event.resource["privasis.stage"] == "records"
    assert event.resource["privasis.root"] == str(tmp_path)
    assert "privasis.dataset.mine" in [each.id for each in event.related]
    assert {name: event.payload[name] for name in ("rows", "tokens", "calls", "cost_usd", "rejected")} == {
        "rows": 2,
        "tokens": 42,
        "calls": 4,
        "cost_usd": 0.25,
        "rejected": 0,
    }
    assert "secret" not in event.model_dump_json()


def test_the_same_commit_told_twice_has_one_id_and_the_next_commit_another(
    tmp_path: Path, told: list[AssertingEventsClient]
) -> None:
    store = committed(tmp_path)
    shard_committed(store, SHARD)
    shard_committed(store, SHARD)
    shard_committed(committed(tmp_path), SHARD)
    EventsWorker.drain_all()
    first, again, anew = [event.id for client in told for event in client.events]
    assert first == again != anew


def test_rows_in_quarantine_are_told_beside_the_commit(tmp_path: Path, told: list[AssertingEventsClient]) -> None:
    shard_committed(committed(tmp_path, quarantined=2), SHARD)
    EventsWorker.drain_all()
    events = [event for client in told for event in client.events]
    assert [event.event for event in events] == ["shard.committed", "shard.quarantined"]
    assert events[1].payload["reasons"] == {"no_text": 2}


def test_a_spent_budget_is_told_with_the_stage_it_was_for(tmp_path: Path, told: list[AssertingEventsClient]) -> None:
    budget_reached(committed(tmp_path).layout, limit_usd=2.0, spent_usd=2.25)
    EventsWorker.drain_all()
    (event,) = [event for client in told for event in client.events]
    assert event.event == "run.budget_reached"
    assert event.resource.id == "privasis.stage.mine.records"
    assert event.payload == {"limit_usd": 2.0, "spent_usd": 2.25}
