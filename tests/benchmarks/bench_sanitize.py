"""What sanitization costs: cutting texts, the chain on one core against a simulator, and the tokens that it reads.

``python tests/benchmarks/bench_sanitize.py`` takes five minutes. Tokens are those of the simulator's tokenizer. What a
prompt's beginning shares with an earlier one, in blocks of 16 words, counts as cached; nothing is ever forgotten.
"""

import asyncio
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from threadpoolctl import threadpool_limits

from flows.config import MixedEngine, RunConfig, Simulated, SimulatedEmbedding
from flows.engines import engines, job_of
from flows.sanitize import plan_sanitization, sanitization_job
from infra.engines.simulator.tokens import count_tokens
from infra.llm.connect import connect
from infra.llm.types import Backend, Reply, Request
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.ranges import ShardRange
from tasks.concurrency import map_bounded
from tasks.diversity.pool import Reservoir
from tasks.events import MemoryLog
from tasks.sanitization.chain import SanitizationChain
from tasks.sanitization.chunks import decompose
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.outcome import Triplet
from tasks.sanitization.source import COLUMNS, Source
from tasks.sanitization.steps import make_triplets
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tasks.synthesis.grounding import Folded
from tasks.synthesis.steps import make_shard, records_store

SIZES = (128, 256, 512, 1024, 2048)  # characters of a chunk, PV Figure 5
RECORDS = 256
JOINED = 2  # records of the simulator, put together to one about as long as the paper's (527 words)
IN_FLIGHT = 64
BLOCK = 16  # words that a prefix cache keeps together

TEXTS: dict[str, Callable[[int], str]] = {
    "letters": lambda size: (LETTER * (size // len(LETTER) + 1))[:size],
    "one line": lambda size: ("word " * (size // 5 + 1))[:size],
    "no spaces": lambda size: "x" * size,
    "Chinese": lambda size: ("我叫安娜，住在北京。" * (size // 10 + 1))[:size],
    "a table": lambda size: ("| Monday | 5 mg | at nine |\n" * (size // 28 + 1))[:size],
}
LETTER = (
    "Dear Dr. Karim,\n\nOn 3 May 2019 I came to the clinic in Porto with a swollen knee, and was told to rest. My"
    " sister, Marta, drove me home in the rain! The bill of 240 euros was paid in cash.\n\n- two weeks of rest\n"
    "- ibuprofen\n\n"
)


# --- cutting ---


def bench_decomposition() -> None:
    """Time texts of 1 and 10 MB, by CPU: ten times the text should take ten times as long."""
    print(
        "Decomposition, chunks of 512 characters.\ntext         1 MB, MB/s  10 MB, MB/s  growth for ten times the text"
    )
    for name, write in TEXTS.items():
        speeds = []
        for size in (10**6, 10**7):
            text = write(size)
            started = time.process_time()
            decompose(text)
            speeds.append(size / 1e6 / (time.process_time() - started))
        print(f"{name:11}  {speeds[0]:10.1f}  {speeds[1]:11.1f}  {10 * speeds[0] / speeds[1]:6.1f}", flush=True)


# --- the chain on one core ---


@dataclass(frozen=True)
class Measured:
    """What one run took, of the client's process alone."""

    records: int
    words: float
    calls: int
    wall_s: float
    cpu_s: float


def run_of(root: Path) -> RunConfig:
    return RunConfig(
        root=root,
        records=RECORDS,
        shard_size=RECORDS,
        in_flight=IN_FLIGHT,
        synthesis=SynthesisConfig(words=270, refinement=RefinementConfig(steps=0)),
        models=(MixedEngine(engine=Simulated(max_in_flight=IN_FLIGHT)),),
        embedder=SimulatedEmbedding(),
    )


def measure(root: Path) -> Measured:
    """Make records, then sanitize them on one core; run it in a process of its own, for it binds that to a core."""
    first, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, others or [first])  # the simulator inherits it
    run = run_of(root)
    with threadpool_limits(1), engines(run) as served:
        os.sched_setaffinity(0, [first])

        async def sanitize() -> Measured:
            shared = Shared()
            context = WorkerContext(LocalKeeper(Reservoir(run.seed)), _shared=shared)
            await make_shard(job_of(run, served), ShardRange(0, RECORDS), context)
            (shard,) = plan_sanitization(run, "missing").todo
            wall, cpu = time.perf_counter(), time.process_time()
            receipt = await make_triplets(sanitization_job(run, served.models), shard, context)
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
            await shared.close()
            words = records_store(root, run.dataset).read("records", ["words"])["words"].to_pylist()
            return Measured(receipt.records, statistics.mean(words), receipt.calls, wall, cpu)

        return asyncio.run(sanitize())


def bench_chain(root: Path) -> None:
    """Print how many records one core sanitizes while a simulator on the others answers at once."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(measure, (root,))
    print(
        f"\nThe chain, {found.records} records of {found.words:.0f} words, {IN_FLIGHT} at once, no delay.\n"
        f"{found.calls} calls, {found.wall_s:.1f} s, {found.cpu_s:.1f} s of CPU:"
        f" {found.records / found.cpu_s:.1f} records and {found.calls / found.cpu_s:.0f} calls a core-second"
    )


# --- tokens ---


class Reader:
    """A backend that counts what a server would have to read, and what of that it has read before."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.model = backend.model
        self.calls = self.prompt = self.cached = self.written = 0
        self._blocks: set[int] = set()

    async def complete(self, request: Request) -> Reply:
        words = " ".join(message.content for message in request.messages).split()
        tokens = sum(count_tokens(message.content) for message in request.messages)
        prefix, shared, is_known = 0, 0, True
        for start in range(0, len(words), BLOCK):
            prefix = hash((prefix, *words[start : start + BLOCK]))
            is_known = is_known and prefix in self._blocks
            shared += BLOCK * is_known
            self._blocks.add(prefix)
        reply = await self._backend.complete(request)
        self.calls += 1
        self.prompt += tokens
        self.cached += round(tokens * min(1.0, shared / max(1, len(words))))
        self.written += reply.usage.completion
        return reply

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None


async def read_at(size: int, sources: Sequence[Source], run: RunConfig) -> tuple[Reader, list[Triplet]]:
    with engines(run) as served:
        async with connect(served.models[0].endpoint) as backend:
            reader = Reader(backend)
            models = [MixedModel(reader, 1.0, lambda usage: 0.0)]
            chain = SanitizationChain(1, SanitizationConfig(chunk_characters=size), models, MemoryLog())
            outcomes = await map_bounded(chain.run, sources, 1)  # one at a time: a cache lives from what was just read
    return reader, [outcome for outcome in outcomes if isinstance(outcome, Triplet)]


def joined(rows: Sequence[Mapping[str, Any]]) -> Source:
    """Put several short records together to one of the paper's length; keys are told apart by a number."""
    text = "\n\n".join(row["text"] for row in rows)
    folded = Folded(text)
    attributes = [
        each | {"key": f"{each['key']}_{number}", "grounded": True, "spans": spans}
        for number, row in enumerate(rows)
        for each in row["attributes"]
        if (spans := [{"start": start, "end": end} for start, end in folded.find(each["value"])])
    ]
    groups = [
        {"name": each["name"], "keys": [f"{key}_{number}" for key in each["keys"]]}
        for number, row in enumerate(rows)
        for each in row["groups"]
    ]
    return Source.of_row(dict(rows[0]) | {"text": text, "attributes": attributes, "groups": groups})


def bench_tokens(root: Path, records: int = 64) -> None:
    """Print what a record costs in tokens at each chunk size."""
    run = run_of(root)
    rows = records_store(root, run.dataset).read("records", list(COLUMNS)).to_pylist()
    sources = [joined(rows[start : start + JOINED]) for start in range(0, JOINED * records, JOINED)]
    words = statistics.mean(len(source.text.split()) for source in sources)
    print(f"\nTokens a record, {records} records of {words:.0f} words on average.")
    print("chunk  chunks  calls  read   cached  share  read anew  written  triplets")
    for size in SIZES:
        reader, triplets = asyncio.run(read_at(size, sources, run))
        chunks = statistics.mean(len(triplet.chunks) for triplet in triplets)
        print(
            f"{size:5d}  {chunks:6.1f}  {reader.calls / records:5.1f}  {reader.prompt / records:5.0f}"
            f"  {reader.cached / records:6.0f}  {reader.cached / reader.prompt:5.0%}"
            f"  {(reader.prompt - reader.cached) / records:9.0f}  {reader.written / records:7.0f}  {len(triplets):8d}",
            flush=True,
        )


def main() -> None:
    """Measure all three."""
    bench_decomposition()
    with tempfile.TemporaryDirectory() as root:
        bench_chain(Path(root))
        bench_tokens(Path(root))


if __name__ == "__main__":
    main()
