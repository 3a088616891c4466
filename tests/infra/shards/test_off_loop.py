import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from pathlib import Path

import pytest

from infra.shards.lease import Lease, LeaseHeld, acquire, current
from infra.shards.off_loop import off_loop
from infra.shards.ranges import ShardRange

SHARD = ShardRange(0, 10)
WAIT_S = 20  # until a test that hangs fails


def taking(folder: Path) -> Callable[[], AbstractContextManager[Lease]]:
    return partial(acquire, folder, SHARD, ttl_s=60)


def is_free(folder: Path) -> bool:
    state = current(folder, SHARD)
    return state is None or state.is_free()


async def test_a_lease_is_held_in_the_block_and_given_back_after_it(tmp_path: Path) -> None:
    async with off_loop(taking(tmp_path)) as lease:
        lease.check()
        with pytest.raises(LeaseHeld):
            async with off_loop(taking(tmp_path)):
                pass
        lease.check()
    assert is_free(tmp_path)


async def test_a_lease_is_given_back_when_the_block_fails(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError):
        async with off_loop(taking(tmp_path)):
            raise ZeroDivisionError
    assert is_free(tmp_path)


async def test_the_loop_goes_on_while_the_store_is_waited_for() -> None:
    """The store answers only after something else has run in the loop, once to enter and once to leave."""
    answers = threading.Semaphore(0)

    @contextmanager
    def slow() -> Iterator[int]:
        assert answers.acquire(timeout=WAIT_S)
        yield 1
        assert answers.acquire(timeout=WAIT_S)

    loop = asyncio.get_running_loop()
    loop.call_soon(answers.release)
    async with off_loop(slow) as one:
        assert one == 1
        loop.call_soon(answers.release)


async def test_whoever_is_cancelled_while_a_lease_is_taken_gives_it_back(tmp_path: Path) -> None:
    asked, answers = asyncio.Event(), threading.Event()
    loop = asyncio.get_running_loop()

    def take() -> Lease:
        loop.call_soon_threadsafe(asked.set)
        assert answers.wait(WAIT_S)
        return acquire(tmp_path, SHARD, ttl_s=60)

    async def work() -> None:
        async with off_loop(take):
            pytest.fail("it was cancelled before")

    task = asyncio.create_task(work())
    await asked.wait()
    for _ in range(2):  # whoever loses patience cancels again
        task.cancel()
        await asyncio.sleep(0)
    answers.set()
    with pytest.raises(asyncio.CancelledError):
        await task
    state = current(tmp_path, SHARD)
    assert state is not None
    assert state.released
