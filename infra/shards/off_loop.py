"""Leases and journals for code of an event loop: where the root is in an object store, each asks it, and may wait."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from typing import TypeVar

T = TypeVar("T")


@asynccontextmanager
async def off_loop(make: Callable[[], AbstractContextManager[T]]) -> AsyncIterator[T]:
    """Make, enter and leave a context manager in threads, so that the loop goes on with its other work.

    What was entered is left, even if the caller is cancelled in between; the context manager is not told of errors.

    Args:
        make: such as ``partial(store.acquire, shard)``.
    """
    with_it = ExitStack()
    try:
        yield await _to_its_end(lambda: with_it.enter_context(make()))
    finally:
        await _to_its_end(with_it.close)


async def _to_its_end(function: Callable[[], T]) -> T:
    """Run ``function`` in a thread. A thread cannot be stopped: the cancellation of the caller waits for its end."""
    running = asyncio.ensure_future(asyncio.to_thread(function))
    cancelled: asyncio.CancelledError | None = None
    while not running.done():
        try:
            await asyncio.wait([running])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled from running.exception()
    return running.result()
