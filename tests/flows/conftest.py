import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from prefect.testing.utilities import prefect_test_harness

from flows.config import load_run
from flows.engines import engines, job_of
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.ranges import ShardRange
from tasks.synthesis.steps import ShardReceipt, SynthesisJob, make_shard, reservoir


@pytest.fixture(scope="session")
def prefect_server() -> Iterator[None]:
    """An API for the flows of the tests, with a database of its own."""
    with prefect_test_harness(server_startup_timeout=300):
        yield


@dataclass(frozen=True)
class MadeSet:
    """Twelve records in two shards, made by the simulator without Prefect and Ray, and the run file to it."""

    folder: Path
    run_file: Path


RUN = """
dataset = "tiny"
root = "{root}"
records = 12
shard_size = 6
[synthesis]
words = 200
refinement = {{ steps = 1 }}
[[models]]
engine = {{ kind = "simulator" }}
[embedder]
kind = "simulator"
"""


@pytest.fixture(scope="session")
def made_set(tmp_path_factory: pytest.TempPathFactory) -> MadeSet:
    """To be read only."""
    root = tmp_path_factory.mktemp("data")
    run_file = root / "tiny.toml"
    run_file.write_text(RUN.format(root=root), encoding="utf-8")
    run = load_run(run_file, {})
    with engines(run) as served:
        asyncio.run(make(job_of(run, served), ShardRange(0, 6), ShardRange(6, 12)))
    return MadeSet(root / "tiny", run_file)


async def make(job: SynthesisJob, *shards: ShardRange) -> list[ShardReceipt]:
    """Make shards in this process, one after the other."""
    shared = Shared()
    context = WorkerContext(LocalKeeper(reservoir(job.root, job.dataset, job.seed)), _shared=shared)
    receipts = [await make_shard(job, shard, context) for shard in shards]
    await shared.close()
    return receipts
