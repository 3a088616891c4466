"""What a job waits for, watched from outside of the job: all it waits for comes from its context."""

import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Self, TypeVar, cast

import numpy as np
import numpy.typing as npt

from infra.llm.limiter import Demand, Grant, Limiter, Terms
from infra.llm.types import Backend, Embedder, Reply, Request
from infra.ray.job import Shared
from infra.ray.keeper import F32, Keeper
from infra.ray.watching import JobWatch, Watching

T = TypeVar("T")


class WatchedBackend:
    """A backend that another has opened, as one job sees it."""

    def __init__(self, backend: Backend, job: JobWatch, watching: Watching) -> None:
        self.model = backend.model
        self._backend, self._job, self._watching = backend, job, watching

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``; errors as of the backend."""
        asking, model = self._job.asking, self.model
        self._job.has_begun = True
        asking[model] += 1
        since, call = self._job.since, id(request)
        began = since[call] = time.monotonic()
        try:
            reply = await self._backend.complete(request)
        finally:
            asking[model] -= 1
            since.pop(call, None)  # gone already, if the same request was asked twice at once
        self._watching.answered(request, model, time.monotonic() - began, reply)
        return reply

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Leave it open: it is not ours."""


class WatchedBatches:
    """A backend that answers by batches, hours later: its calls do not count among those that may hang."""

    def __init__(self, backend: Backend, job: JobWatch, watching: Watching) -> None:
        self.model = backend.model
        self._backend, self._job, self._watching = backend, job, watching

    async def complete(self, request: Request) -> Reply:
        """Answer ``request``; errors as of the backend."""
        self._job.has_begun = True
        self._job.batched += 1
        began = time.monotonic()
        try:
            reply = await self._backend.complete(request)
        finally:
            self._job.batched -= 1
        self._watching.answered(request, self.model, time.monotonic() - began, reply)
        return reply

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Leave it open: it is not ours."""


class WatchedEmbedder:
    """An embedder that another has opened, as one job sees it."""

    def __init__(self, embedder: Embedder, job: JobWatch) -> None:
        self.model, self.dimension = embedder.model, embedder.dimension
        self._embedder, self._job = embedder, job

    async def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Return unit vectors of shape (len(texts), dimension); errors as of the embedder."""
        embedding, model = self._job.embedding, self.model
        self._job.has_begun = True
        embedding[model] += 1
        try:
            return await self._embedder.embed(texts)
        finally:
            embedding[model] -= 1

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc: object) -> None:
        """Leave it open: it is not ours."""


@dataclass(frozen=True)
class WatchedKeeper:
    """The keeper, as one job sees it."""

    keeper: Keeper
    job: JobWatch

    async def add(self, vectors: F32) -> None:
        """Offer accepted vectors, shape (m, d)."""
        self.job.pool += 1
        try:
            await self.keeper.add(vectors)
        finally:
            self.job.pool -= 1

    async def sample(self, n: int, seed: int) -> F32:
        """Draw up to ``n`` of the vectors held, shape (k, d)."""
        self.job.pool += 1
        try:
            return await self.keeper.sample(n, seed)
        finally:
            self.job.pool -= 1

    async def size(self) -> int:
        """Count the vectors held."""
        return await self.keeper.size()


@dataclass(frozen=True)
class WatchedLimiter:
    """The limiter, as the clients of one process see it."""

    limiter: Limiter
    watching: Watching

    async def exchange(self, server: str, terms: Terms, demand: Demand) -> Grant:
        """Report, and get a grant; see ``infra.llm.limiter.Limiter``."""
        grant = await self.limiter.exchange(server, terms, demand)
        self.watching.note_visit(server, demand, grant)
        return grant


class WatchedShared(Shared):
    """What all jobs of a process use together, as one job sees it: models are watched, all else is handed on."""

    def __init__(self, shared: Shared, job: JobWatch, watching: Watching) -> None:
        super().__init__()
        self._all, self._job, self._watching = shared, job, watching

    async def get(self, key: Hashable, make: Callable[[], AbstractAsyncContextManager[T]]) -> T:
        """Return what ``make`` opens, or has opened for another job."""
        found: Any = await self._all.get(key, make)
        if callable(getattr(found, "complete", None)):
            self._watching.note_client(found.model, found)
            found = WatchedBackend(found, self._job, self._watching)
        elif callable(getattr(found, "embed", None)):
            self._watching.note_client(found.model, found)
            found = WatchedEmbedder(found, self._job)
        return cast(T, found)

    def batching(self, backend: Backend) -> Backend:
        """Return the backend with its calls watched."""
        self._watching.note_client(backend.model, backend)
        return WatchedBatches(backend, self._job, self._watching)
