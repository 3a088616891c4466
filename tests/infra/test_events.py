"""Events of ours: what automations are told, and how often."""

from pathlib import Path

import pyarrow as pa

from infra.events import of_budget, of_commit
from infra.llm.types import Usage
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore

TABLES = {"records": pa.schema([("record_id", pa.string()), ("text", pa.string())])}
SHARD = ShardRange(0, 2)


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


def test_a_commit_is_told_with_its_figures_and_without_any_text(tmp_path: Path) -> None:
    store = committed(tmp_path)
    (told,) = of_commit(store.layout, store.manifest.record(SHARD))
    assert told.event == "shard.committed"
    assert told.resource == {
        "prefect.resource.id": f"privasis.shard.mine.records.{SHARD.name}",
        "prefect.resource.name": f"records {SHARD.name}",
        "privasis.dataset": "mine",
        "privasis.stage": "records",
        "privasis.root": str(tmp_path),
    }
    assert told.related == [{"prefect.resource.id": "privasis.dataset.mine", "prefect.resource.role": "dataset"}]
    assert told.payload == {
        "shard": SHARD.name,
        "stage": "records",
        "rows": 2,
        "tables": {"records": 2},
        "rejected": 0,
        "quarantined": 0,
        "calls": 4,
        "tokens": 42,
        "cost_usd": 0.25,
        "spec_hash": "spec",
    }
    assert "secret" not in repr(told)


def test_the_same_commit_has_one_id_however_often_it_is_told_and_the_next_commit_another(tmp_path: Path) -> None:
    store = committed(tmp_path)
    first, again = (of_commit(store.layout, store.manifest.record(SHARD))[0].id for _ in range(2))
    committed(tmp_path)
    anew = of_commit(store.layout, store.manifest.record(SHARD))[0].id
    assert first == again != anew


def test_rows_in_quarantine_are_told_beside_the_commit(tmp_path: Path) -> None:
    store = committed(tmp_path, quarantined=2)
    commit, quarantine = of_commit(store.layout, store.manifest.record(SHARD))
    assert (commit.event, quarantine.event) == ("shard.committed", "shard.quarantined")
    assert quarantine.payload["reasons"] == {"no_text": 2}
    assert commit.id != quarantine.id


def test_a_spent_budget_is_told_with_the_stage_it_was_for(tmp_path: Path) -> None:
    told = of_budget(committed(tmp_path).layout, limit_usd=2.0, spent_usd=2.25)
    assert told.event == "run.budget_reached"
    assert told.resource["prefect.resource.id"] == "privasis.stage.mine.records"
    assert told.payload == {"limit_usd": 2.0, "spent_usd": 2.25}
