"""Processor seconds to plan and show many shards: ``python -m tests.benchmarks.bench_backfill [--shards 2800]``.

Writes a data set of records and triplets whose files are as small as they can be but whose manifest entries are as long
as those of 512 records made by the simulator; every hundredth shard is open, every hundred and first has failed.
"""

import argparse
import io
import json
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar

from rich.console import Console

from flows.backfill import Selection, choose, stages_of
from flows.config import MixedEngine, RunConfig, Simulated, SimulatedEmbedding
from flows.engines import planned_job
from flows.matrix.look import matrix_of
from flows.matrix.page import matrix_page
from flows.matrix.terminal import matrix_view
from flows.sanitize import plan_sanitization, planned_sanitization
from flows.synthesize import plan_run
from infra.shards.failures import FailureNotes
from infra.shards.manifest import FileRecord, ShardRecord, ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore

T = TypeVar("T")
ROWS = 512


def fill(store: StageStore, shard: ShardRange, spec: str, inputs: dict[str, str]) -> None:
    """Write a finished shard: one byte a file, an entry as long as a real one."""
    for table in store.tables:
        path = Path(str(store.layout.data_file(table, shard)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"x")
    spread = {"counts": [7] * 13, "total": 123.4}
    steps = [
        {"step": f"step{n}", "model": "simulator", "seconds": spread, "prompt": spread, "completion": spread}
        for n in range(10)
    ]
    counts = {"calls": 512, "prompt": 123_456, "cached": 0, "completion": 65_432, "reasoning": 0}
    record = ShardRecord(
        shard=shard,
        stage=store.stage,
        spec_hash=spec,
        input_hashes=inputs,
        files={table: FileRecord(rows=ROWS, bytes=1, sha256="0" * 64) for table in store.tables},
        summary=ShardSummary(
            notes={
                "filtered": 3,
                "quarantined": 2,
                "histograms": {"steps": steps},
                "steps": {f"step{n}": counts for n in range(10)},
            }
        ),
        created_at=datetime.now(UTC),
        fencing_token=1,
    )
    path = Path(str(store.manifest.path(shard)))
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(record.model_dump_json(indent=1), encoding="utf-8")


def timed(name: str, do: Callable[[], T]) -> tuple[str, float, T]:
    """Do it and say how many seconds of a processor it took: the machine may be busy with other work."""
    began = time.process_time()
    found = do()
    return name, time.process_time() - began, found


def main() -> None:
    """Make the data set, and time what is done to it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--shards", type=int, default=2_800)
    shards = parser.parse_args().shards
    with tempfile.TemporaryDirectory() as folder:
        run = RunConfig(
            root=Path(folder),
            dataset="many",
            records=shards * ROWS,
            models=(MixedEngine(engine=Simulated()),),
            embedder=SimulatedEmbedding(),
        )
        records, triplets = planned_job(run), planned_sanitization(run)
        for store, spec, inputs in (
            (records.store(), records.spec_hash(), {}),
            (triplets.store(), triplets.spec_hash(), {"records": "0" * 64}),
        ):
            for number in range(shards):
                shard = ShardRange(number * ROWS, (number + 1) * ROWS)
                if number % 100 == 99:
                    journal = Path(str(store.layout.open_journal(shard)))
                    journal.parent.mkdir(parents=True, exist_ok=True)
                    journal.write_bytes(b"")
                elif number % 101 == 100:
                    FailureNotes(store.layout).put(shard, ConnectionError("no answer"))
                else:
                    fill(store, shard, spec, inputs)
        selection = Selection(reprocess="stale")
        home = run.root / run.dataset
        console = Console(file=io.StringIO())
        found = [
            timed("plan records", lambda: plan_run(run, "missing_and_failed")),
            timed("plan triplets", lambda: plan_sanitization(run, "stale")),
            timed("sweep", lambda: records.store().sweep()),
            timed("choose both", lambda: [choose(each, selection, None) for each in stages_of(run, selection, None)]),
            timed("matrix", lambda: matrix_of(home)),
            timed("show it", lambda: console.print(matrix_view(matrix_of(home)))),
            timed("page", lambda: matrix_page(matrix_of(home))),
        ]
        figures = {name: round(seconds, 2) for name, seconds, _ in found}
        figures |= {"shards": shards, "page, KB": len(str(found[-1][2])) // 1024}
        sys.stdout.write(f"{json.dumps(figures, indent=2)}\n")


if __name__ == "__main__":
    main()
