"""What a call costs the factory itself: the whole chain on one core, against a simulator on the others.

``python tests/benchmarks/bench_chain.py`` measures load, then memory, ten minutes in all; ``--records 100000`` measures
memory at that size.
"""

import argparse
import asyncio
import multiprocessing
import os
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from threadpoolctl import threadpool_limits

from flows.config import MixedEngine, RunConfig, Simulated, SimulatedEmbedding
from flows.engines import engines, job_of
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.ranges import ShardRange
from tasks.diversity.pool import Reservoir
from tasks.shards.steps import ShardReceipt
from tasks.synthesis.steps import SynthesisJob, make_shard

SHARD = 512
WARM_UP = 32  # records that load models, lists and code
GOAL = 400  # calls a second and core


@dataclass(frozen=True)
class Load:
    """One measurement: so many records, so many of them at once, against a server of that latency."""

    latency_ms: float
    in_flight: int
    records: int


@dataclass(frozen=True)
class Measured:
    """What came of it, of the client's process alone."""

    calls: int
    wall_s: float
    cpu_s: float
    peak_mb: float


def measure(load: Load) -> Measured:
    """Run in a process of its own: its peak memory is its own, too."""
    first, *others = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, others or [first])  # the simulator inherits it
    with tempfile.TemporaryDirectory() as root, threadpool_limits(1):
        run = RunConfig(
            root=Path(root),
            in_flight=load.in_flight,
            models=(MixedEngine(engine=Simulated(latency_ms=load.latency_ms, max_in_flight=load.in_flight)),),
            embedder=SimulatedEmbedding(),
        )
        with engines(run) as served:
            os.sched_setaffinity(0, [first])
            return asyncio.run(_measure(job_of(run, served), load.records))


async def _measure(job: SynthesisJob, records: int) -> Measured:
    shared = Shared()
    context = WorkerContext(LocalKeeper(Reservoir(job.seed)), _shared=shared)
    await make_shard(job, ShardRange(0, WARM_UP), context)
    wall, cpu = time.perf_counter(), time.process_time()
    receipts: list[ShardReceipt] = []
    for start in range(WARM_UP, WARM_UP + records, SHARD):
        shard = ShardRange(start, min(start + SHARD, WARM_UP + records))
        receipts.append(await make_shard(job, shard, context))
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    await shared.close()
    return Measured(sum(receipt.calls for receipt in receipts), wall, cpu, _peak_mb())


def _peak_mb() -> float:
    """Return the most memory that this process has had; `getrusage` would count that of its parent, too."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def show(loads: Sequence[Load]) -> None:
    """Measure and print a table."""
    print("latency  in flight  records    calls   wall s  CPU s  calls/s  calls a core-second  CPU ms a call  peak MB")
    for load in loads:
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            found = pool.apply(measure, (load,))
        print(
            f"{load.latency_ms:4.0f} ms  {load.in_flight:9d} {load.records:8d} {found.calls:8d} {found.wall_s:8.1f}"
            f" {found.cpu_s:6.1f} {found.calls / found.wall_s:8.0f} {found.calls / found.cpu_s:20.0f}"
            f" {1e3 * found.cpu_s / found.calls:14.2f} {found.peak_mb:8.0f}",
            flush=True,
        )


def main() -> None:
    """Read the command line and measure."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--records", type=int, nargs="+", help="only memory, at these numbers of records")
    asked: list[int] | None = parser.parse_args().records
    if asked is None:
        print(f"Load. The goal is {GOAL} calls a core-second with 256 in flight.")
        show([Load(latency_ms, in_flight, 4 * in_flight) for latency_ms in (0, 200) for in_flight in (32, 256)])
    print("\nMemory. The goal is that it does not grow with the records.")
    show([Load(0, 128, records) for records in asked or (2_000, 10_000)])


if __name__ == "__main__":
    main()
