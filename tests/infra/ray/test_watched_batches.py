"""What is said of calls that go by batches."""

import asyncio
from collections import Counter

from infra.ray.job import Shared
from infra.ray.watched import WatchedShared
from infra.ray.watching import Watching
from tests.infra.ray.test_watched import Gate, asking


async def test_calls_of_a_batch_wait_for_it_and_do_not_count_as_calls_that_may_hang() -> None:
    watching, gate = Watching(), Gate()
    shared = WatchedShared(Shared(), watching.begin("part-0", Counter()), watching)
    backend = shared.batching(gate)  # type: ignore[arg-type]
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(backend.complete(asking("label")))
        await asyncio.sleep(0.05)
        look = watching.look()
        assert look.waits == {"batch": 3}
        assert look.oldest_s == 0
        gate.open.set()
    look = watching.look()
    assert look.waits == {"disk": 1}
    assert [(step.step, step.seconds.count) for step in look.steps] == [("label", 3)]
