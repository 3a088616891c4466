"""The one place that starts asyncio tasks."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar, cast

T = TypeVar("T")
R = TypeVar("R")


async def both(first: Callable[[], Awaitable[T]], second: Callable[[], Awaitable[R]], at_once: int) -> tuple[T, R]:
    """Do two things of different kinds: one after the other, or together where ``at_once`` is 2.

    The first exception cancels the other.
    """

    async def do(thing: Callable[[], Awaitable[T | R]]) -> T | R:
        return await thing()

    things: tuple[Callable[[], Awaitable[T | R]], ...] = (first, second)
    found = await map_bounded(do, things, at_once)
    return cast(T, found[0]), cast(R, found[1])


async def map_bounded(fn: Callable[[T], Awaitable[R]], items: Iterable[T], limit: int) -> list[R]:
    """Apply ``fn`` to each item, at most ``limit`` at once; results keep the order of ``items``.

    The first exception cancels what is still running and is raised as itself, not inside a group.
    """
    gate = asyncio.Semaphore(limit)

    async def run(item: T) -> R:
        async with gate:
            return await fn(item)

    try:
        async with asyncio.TaskGroup() as group:
            started = [group.create_task(run(item)) for item in items]
    except* Exception as errors:  # noqa: BLE001 - raised again at once
        raise errors.exceptions[0] from None
    return [task.result() for task in started]
