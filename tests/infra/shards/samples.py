"""A stage with two tables, as small as one can be. Its third row of ten is a reject."""

from collections.abc import Mapping
from pathlib import Path

import pyarrow as pa

from infra.llm.types import Usage
from infra.shards.lease import Lease
from infra.shards.manifest import ShardRecord, ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore

NOTES = pa.schema(
    [
        pa.field("note_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("tags", pa.list_(pa.string())),
    ]
)
REJECTS = pa.schema([pa.field("note_id", pa.string(), nullable=False), pa.field("reason", pa.string(), nullable=False)])


def make_store(root: Path) -> StageStore:
    return StageStore(root, "letters", "writing", {"notes": NOTES, "rejects": REJECTS}, id_column="note_id")


def tables_of(shard: ShardRange, text: str = "hello") -> dict[str, pa.Table]:
    kept = [
        {"note_id": f"n{index}", "index": index, "text": f"{text} {index}", "tags": ["a", None]}
        for index in range(shard.start, shard.stop)
        if index % 10 != 2
    ]
    rejected = [
        {"note_id": f"n{index}", "reason": "too short"} for index in range(shard.start, shard.stop) if index % 10 == 2
    ]
    return {
        "notes": pa.Table.from_pylist(kept, schema=NOTES),
        "rejects": pa.Table.from_pylist(rejected, schema=REJECTS),
    }


def commit(
    store: StageStore,
    shard: ShardRange,
    *,
    spec: str = "spec-1",
    inputs: Mapping[str, str] | None = None,
    tables: Mapping[str, pa.Table] | None = None,
    lease: Lease | None = None,
) -> ShardRecord:
    with lease or store.acquire(shard) as held:
        return store.commit(
            shard,
            tables or tables_of(shard),
            held,
            expected_rows=len(shard),
            spec_hash=spec,
            input_hashes=inputs or {},
            summary=ShardSummary(reasons={"too short": 1}, tokens=Usage(prompt=7, completion=3), calls=2),
        )
