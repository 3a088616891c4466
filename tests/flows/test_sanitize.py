"""Sanitization of records that the simulator made, by the simulator; without Prefect and Ray."""

import asyncio
import shutil
from pathlib import Path

from flows.config import RunConfig, load_run
from flows.engines import engines
from flows.sanitize import plan_sanitization, sanitization_job
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.store import StageStore
from tasks.diversity.pool import Reservoir
from tasks.sanitization.steps import make_triplets
from tests.flows.conftest import MadeSet


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
    assert len(triplets) >= 6
    assert all(row["outcome"] == "quarantined" and row["reason"] and row["step"] for row in rejects)
    for row in triplets:
        assert row["verified"]
        assert row["text"] != row["sanitized"]
        values = [each["value"] for target in row["targets"] for each in target["attributes"]]
        assert not any(value in row["sanitized"] for value in values if len(value) > 2)
        assert all(kept["value"] in row["sanitized"] for kept in row["retained"])
        assert all(chunk["sanitized"] for chunk in row["chunks"])
    assert {planned.state for planned in plan_sanitization(run, "stale").shards} == {"committed"}
