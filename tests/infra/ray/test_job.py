import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from infra.ray.job import Shared


class Opener:
    """Counts how often it is entered and left; fails as often as told."""

    def __init__(self, log: list[str], name: str = "model", failures: int = 0) -> None:
        self.log, self.name, self.failures = log, name, failures

    @asynccontextmanager
    async def __call__(self) -> AsyncIterator[str]:
        self.log.append(f"open {self.name}")
        await asyncio.sleep(0.01)
        if self.failures:
            self.failures -= 1
            raise OSError("no model file")
        yield self.name
        self.log.append(f"close {self.name}")


async def test_of_many_who_ask_at_once_one_opens() -> None:
    log: list[str] = []
    shared, model = Shared(), Opener(log)
    assert await asyncio.gather(*(shared.get("model", model) for _ in range(5))) == ["model"] * 5
    assert log == ["open model"]


async def test_what_was_opened_last_is_closed_first() -> None:
    log: list[str] = []
    shared = Shared()
    for name in ("engine", "client"):
        await shared.get(name, Opener(log, name))
    await shared.close()
    assert log == ["open engine", "open client", "close client", "close engine"]


async def test_a_failure_is_not_kept() -> None:
    log: list[str] = []
    shared, model = Shared(), Opener(log, failures=1)
    with pytest.raises(OSError, match="no model file"):
        await shared.get("model", model)
    assert await shared.get("model", model) == "model"


async def test_a_cancelled_first_asker_does_not_spoil_it_for_the_second() -> None:
    log: list[str] = []
    shared, model = Shared(), Opener(log)
    first = asyncio.create_task(shared.get("model", model))
    second = asyncio.create_task(shared.get("model", model))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == "model"
    assert first.cancelled()
