"""Memory and time of calibration by the size of the data set: ``python -m tests.benchmarks.bench_calibrate``.

    [--tokens 2000000 8000000] [--unit character]

Writes scores of random texts (documents of 200 tokens, groups of ten, one labelled span in each document) and
calibrates on them through consensus and propagation, each size in a process of its own. The command holds one piece of
4 million tokens at a time, and of the others a few numbers for each different level.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa

from flows.commands.surprise import calibrate
from flows.commands.surprise.wanted import Wanted
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from tasks.records import SCORE_REJECTS, SCORES
from tasks.surprise.policy import Reference
from tasks.surprise.store.steps import scores_store
from tests.benchmarks.bench_score import start_peak, status_mib

DOCUMENT_TOKENS, CHARACTERS, GROUP = 200, 4, 10
SHARD = 2500
REFERENCE = Reference(model="random", tokenizer_sha256="0" * 64)


def write(root: Path, documents: int) -> None:
    store = scores_store(root, "scores")
    notes = {"reference": REFERENCE.model_dump(), "prompts": {}}
    for start in range(0, documents, SHARD):
        shard = ShardRange(start, min(start + SHARD, documents))
        tables = {"scores": rows(shard), "score_rejects": SCORE_REJECTS.empty_table()}
        with store.acquire(shard) as lease:
            summary = ShardSummary(notes=notes)
            store.commit(
                shard, tables, lease, shard.stop - shard.start, spec_hash="s", input_hashes={}, summary=summary
            )


def rows(shard: ShardRange) -> pa.Table:
    rng = np.random.default_rng(shard.start)
    starts = np.arange(DOCUMENT_TOKENS) * CHARACTERS
    made = []
    for index in range(shard.start, shard.stop):
        nll = rng.gamma(1.5, 2.0, DOCUMENT_TOKENS).astype(np.float32)
        nll[50:58] += 6.0
        made.append(
            {
                "document_id": f"d{index}",
                "index": index,
                "group": f"g{index // GROUP}",
                "text": "abc " * DOCUMENT_TOKENS,
                "supervised": None,
                "labels": [{"start": 50 * CHARACTERS, "end": 58 * CHARACTERS, "category": "key"}],
                "labelled": True,
                "regions": [],
                "strata": [],
                "covered": DOCUMENT_TOKENS * CHARACTERS,
                "token_ids": rng.integers(0, 50_000, DOCUMENT_TOKENS),
                "token_starts": starts,
                "token_ends": starts + CHARACTERS,
                "nll": [{"name": "plain", "values": nll}],
                "model": REFERENCE.model,
                "tokenizer_sha256": REFERENCE.tokenizer_sha256,
            }
        )
    return pa.Table.from_pylist(made, SCORES)


def measure(folder: Path, unit: str) -> None:
    wanted = Wanted(preset="code-pii", unit=unit, best_f1=True)
    before, wall, processor = start_peak(), time.perf_counter(), time.process_time()
    calibrate.run(folder / "scores", folder / "policy.json", None, wanted, as_json=False)
    took = time.perf_counter() - wall
    print(
        f"\n{status_mib('VmHWM') - before:,.0f} MiB, {took:,.0f} s, {time.process_time() - processor:,.0f} s processor"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, nargs="+", default=[2_000_000, 8_000_000])
    parser.add_argument("--unit", default="character")
    parser.add_argument("--folder", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.folder is not None:
        measure(options.folder, options.unit)
        return
    for tokens in options.tokens:
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder), tokens // DOCUMENT_TOKENS)
            command = [sys.executable, "-m", "tests.benchmarks.bench_calibrate", "--unit", options.unit]
            done = subprocess.run([*command, "--folder", folder], check=True, capture_output=True, text=True)
            print(f"{tokens:,} tokens: {done.stdout.splitlines()[-1]}", flush=True)


if __name__ == "__main__":
    main()
