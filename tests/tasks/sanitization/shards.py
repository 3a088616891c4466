"""A data set of two record shards, and how to sanitize them in process."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from flows.config import RunConfig
from flows.sanitize import planned_sanitization
from infra.llm.fake import FakeBackend
from infra.llm.types import Request
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from tasks.diversity.pool import Reservoir
from tasks.sanitization.steps import make_triplets
from tasks.synthesis.attributes import Attribute, Group
from tasks.synthesis.outcome import Identity, Record, Reject, Spent, tables
from tasks.synthesis.steps import ShardReceipt, records_store
from tests.tasks.sanitization.records import FACTS, GROUPS, LETTER, attribute
from tests.tasks.sanitization.script import honest
from tests.tasks.synthesis.person import ANA, KNEE, PLAN
from tests.tasks.synthesis.script import Answer

FIRST, SECOND = ShardRange(0, 3), ShardRange(3, 5)


def record(index: int, text: str = LETTER) -> Record | Reject:
    identity = Identity(f"r-00000007-{index:08d}", index, 7, "writer", "English")
    spent = Spent({}, 0.0)
    if index == 2:
        return Reject(identity, "quarantined", "draft", "empty_reply", "the reply is empty", None, spent)
    attributes = [*(attribute(key, value) for key, value in FACTS.items()), Attribute("mood", "calm", "text", ())]
    return Record(
        identity=identity,
        profile=ANA,
        event=KNEE,
        plan=PLAN,
        text=text,
        words=100,
        label=None,
        attributes=tuple(attributes),
        groups=tuple(Group(name, keys) for name, keys in GROUPS.items()),
        refinement=(),
        embedding=np.array([1.0], np.float32),
        spent=spent,
        prompt_shas={},
    )


def commit_records(root: Path, shard: ShardRange, text: str = LETTER) -> None:
    store = records_store(root, "tiny")
    with store.acquire(shard) as lease:
        store.commit(
            shard,
            tables([record(index, text) for index in range(shard.start, shard.stop)]),
            lease,
            len(shard),
            spec_hash="00",
            input_hashes={},
            summary=ShardSummary(),
        )


async def made(
    run: RunConfig,
    shard: ShardRange,
    answer: Callable[[Request], Answer] = honest,
    context: WorkerContext | None = None,
) -> tuple[ShardReceipt, FakeBackend]:
    """Make a shard of triplets with a backend in process in the place of the run's model."""
    job = planned_sanitization(run)
    backend, shared = FakeBackend(answer), Shared()
    await shared.get(job.models[0].endpoint.model_dump_json(), lambda: backend)
    context = replace(context or WorkerContext(LocalKeeper(Reservoir(0))), _shared=shared)
    return await make_triplets(job, shard, context), backend
