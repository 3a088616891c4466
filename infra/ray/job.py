"""What a shard worker runs, and what it gives the job to run with. No Ray here: a test or a preview can run a job."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Coroutine, Hashable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, field
from typing import Any, TypeVar

from infra.llm.limiter import Limiter, LocalLimiter
from infra.llm.types import Backend
from infra.ray.keeper import Keeper

T = TypeVar("T")
R = TypeVar("R")


class Shared:
    """What all jobs of one process use together: models, HTTP clients. Opened once, closed with the process."""

    def __init__(self) -> None:
        self._open: dict[Hashable, Any] = {}
        self._locks: defaultdict[Hashable, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._stack = AsyncExitStack()

    async def get(self, key: Hashable, make: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """Return what ``make`` opens; the first to ask for ``key`` opens it, the others wait. A failure is not kept."""
        async with self._locks[key]:
            if key not in self._open:
                self._open[key] = await self._stack.enter_async_context(make())
            found: T = self._open[key]
            return found

    def batching(self, backend: Backend) -> Backend:
        """Return a backend that a job has opened for itself, as whoever watches the job wants it."""
        return backend

    async def close(self) -> None:
        """Close everything, the youngest first."""
        self._open.clear()
        await self._stack.aclose()


@dataclass(frozen=True)
class WorkerContext:
    """What a job has from its worker.

    Attributes:
        keeper: the vectors shared by all shards of the run.
        stopping: set when no new record is to be started; what is in flight may go on until the job is cancelled.
        progress: counts of the job's own naming, read by the driver while it runs.
        limiter: shares the servers' limits between all workers of the run.
    """

    keeper: Keeper
    stopping: asyncio.Event = field(default_factory=asyncio.Event)
    progress: Counter[str] = field(default_factory=Counter)
    limiter: Limiter = field(default_factory=LocalLimiter)
    _shared: Shared = field(default_factory=Shared)

    async def shared(self, key: Hashable, make: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """Return an object that all jobs of this process use, e.g. ``shared("embedder", partial(connect, config))``.

        Args:
            key: tells one from another; equal keys must mean equal objects.
            make: returns the object as an async context manager: entered by the first who asks, left when the worker
                ends.
        """
        return await self._shared.get(key, make)

    def batching(self, backend: Backend) -> Backend:
        """Return a backend that answers by batches, which the job has opened for itself, with its calls watched."""
        return self._shared.batching(backend)


Job = Callable[[WorkerContext], Coroutine[Any, Any, R]]
"""A picklable callable: ``functools.partial`` of a module's async function, or a frozen dataclass with ``__call__``.

It returns a small receipt. When it is cancelled it has to leave things in order (close its journal, give back its
lease) within seconds and let ``CancelledError`` through.
"""
