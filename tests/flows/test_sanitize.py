"""Sanitization of records that the simulator made, by the simulator; without Prefect and Ray."""

import asyncio
import shutil
import time
from itertools import pairwise
from pathlib import Path
from typing import Self

from flows.config import RunConfig, load_run
from flows.engines import engines
from flows.sanitize import plan_sanitization, sanitization_job
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.llm.connect import Endpoint, connect
from infra.llm.prices import FREE
from infra.llm.types import Backend, Reply, Request
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.store import StageStore
from tasks.diversity.pool import Reservoir
from tasks.events import MemoryLog
from tasks.sanitization.chain import SanitizationChain
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.outcome import Triplet
from tasks.sanitization.source import Source
from tasks.sanitization.steps import make_triplets
from tasks.synthesis.chain import MixedModel
from tests.flows.conftest import MadeSet
from tests.tasks.sanitization.records import source


def run_of(made_set: MadeSet, root: Path) -> RunConfig:
    shutil.copytree(made_set.folder, root / "tiny")
    return load_run(made_set.run_file, {"root": str(root)})


async def sanitize(run: RunConfig) -> StageStore:
    with engines(run) as served:
        job, shared = sanitization_job(run, served.models), Shared()
        context = WorkerContext(LocalKeeper(Reservoir(0)), _shared=shared)
        for shard in plan_sanitization(run, "missing_and_failed").todo:
            await make_triplets(job, shard, context)
        await shared.close()
    return job.store()


def test_every_record_ends_as_a_checked_triplet_or_quarantined_with_its_reason(
    made_set: MadeSet, tmp_path: Path
) -> None:
    run = run_of(made_set, tmp_path)
    store = asyncio.run(sanitize(run))
    triplets, rejects = store.read("triplets").to_pylist(), store.read("triplet_rejects").to_pylist()
    assert len(triplets) + len(rejects) == 12
    assert len(triplets) >= 11
    assert all(row["outcome"] == "quarantined" and row["reason"] and row["step"] for row in rejects)
    for row in triplets:
        assert row["verified"]
        assert row["text"] != row["sanitized"]
        values = [each["value"] for target in row["targets"] for each in target["attributes"]]
        assert not any(value in row["sanitized"] for value in values if len(value) > 2)
        assert all(kept["value"] in row["sanitized"] for kept in row["retained"])
        assert all(chunk["sanitized"] for chunk in row["chunks"])
    assert {planned.state for planned in plan_sanitization(run, "stale").shards} == {"committed"}


# --- the order of work, as a server sees it ---

TEXT = "".join(
    f"{{0}} came in at nine and asked {{1}} about the {word} bill once more. {'So it went. ' * 6}\n\n"
    for word in ("first", "second", "third", "fourth")
)
TWO = source(TEXT.format("Ana Lima", "Rui Karim"), {"patient": "Ana Lima", "doctor": "Rui Karim"}, {})


class Door:
    """Lets requests through to a server, and notes what was in flight when."""

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self.model = backend.model
        self.calls: list[tuple[str, float, float]] = []

    async def complete(self, request: Request) -> Reply:
        came = time.monotonic()
        reply = await self._backend.complete(request)
        self.calls.append((request.tags["step"], came, time.monotonic()))
        return reply

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        return None

    def stretch(self, *prefixes: str) -> tuple[float, float]:
        """Return when the first call of these steps came and when the last was answered."""
        found = [(came, left) for step, came, left in self.calls if step.startswith(prefixes)]
        return min(came for came, _ in found), max(left for _, left in found)


async def sanitize_at(simulator: Simulator, record: Source) -> tuple[Door, Triplet]:
    endpoint = Endpoint(model=simulator.model, base_url=simulator.base_url, api_key_env=None, price=FREE)
    async with connect(endpoint) as backend:
        door = Door(backend)
        models = [MixedModel(door, 1.0, lambda usage: 0.0)]
        outcome = await SanitizationChain(3, SanitizationConfig(chunk_characters=256), models, MemoryLog()).run(record)
    assert isinstance(outcome, Triplet), outcome
    return door, outcome


def test_at_the_door_targets_come_one_after_the_other_and_the_chunks_of_one_at_once() -> None:
    with start(SimulatorConfig(latency_ms=60)) as simulator:
        door, triplet = asyncio.run(sanitize_at(simulator, TWO))
        assert simulator.statistics().peak == 4  # the chunks of one target, never those of two
    assert len(triplet.targets) == 2
    assert [len(works[0].edits) for works in triplet.passes] == [4, 4]
    for number in (0, 1):
        ladder = [door.stretch(f"{step}-{number}") for step in ("relevant", "spans", "apply")]
        assert all(before[1] <= after[0] for before, after in pairwise(ladder))
    first, second = (door.stretch(f"relevant-{number}", f"spans-{number}", f"apply-{number}") for number in (0, 1))
    assert first[1] <= second[0]
