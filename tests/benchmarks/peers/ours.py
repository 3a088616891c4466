"""Ours: one prompt a row, as a worker makes a shard, from the lease and the journal to the committed file."""

import asyncio
import json
import sys
from pathlib import Path

import pyarrow as pa

from infra.llm.connect import Endpoint, connect
from infra.llm.types import Message
from infra.ray.job import Shared
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.ask import Asker
from tasks.concurrency import map_bounded

SCHEMA = pa.schema([pa.field("row_id", pa.string(), nullable=False), pa.field("text", pa.string(), nullable=False)])


async def main(base_url: str, rows: int, in_flight: int, root: Path) -> None:
    store = StageStore(root, "rows", "answers", {"answers": SCHEMA}, id_column="row_id")
    shard = ShardRange(0, rows)
    endpoint = Endpoint(model="m", base_url=base_url, api_key_env=None, max_in_flight=in_flight)
    shared = Shared()
    try:
        backend = await shared.get("model", lambda: connect(endpoint))
        with store.acquire(shard) as lease:
            with store.journal(lease) as journal:

                async def one(row: int) -> dict[str, str]:
                    ask = Asker(f"row-{row}", run_seed=1, backend=backend, log=journal)
                    prompt = (Message("user", f"Row {row}: say something."),)
                    text = await ask.text("answer", prompt, temperature=1.0, max_tokens=256, check=str)
                    return {"row_id": str(row), "text": text}

                answers = await map_bounded(one, range(rows), in_flight)
            table = pa.Table.from_pylist(answers, SCHEMA)
            await asyncio.to_thread(
                store.commit,
                shard,
                {"answers": table},
                lease,
                rows,
                spec_hash="bench",
                input_hashes={},
                summary=ShardSummary(),
            )
    finally:
        await shared.close()
    found = zip(table["row_id"].to_pylist(), table["text"].to_pylist(), strict=True)
    root.joinpath("answers.jsonl").write_text("".join(json.dumps((int(row), text)) + "\n" for row, text in found))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4])))
