"""Where the vectors live that all shards of a run share: in an actor of their own, or in this process."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]


class KeeperUnavailable(Exception):
    """The keeper's process died; it starts again from what ``make`` gives. Try the shard again."""


class Reservoir(Protocol):
    """What a keeper keeps, seen from here: ``tasks.diversity.pool.Reservoir`` is one."""

    def __len__(self) -> int: ...

    def add(self, vectors: F32) -> None:
        """Offer vectors, shape (m, d)."""
        ...

    def sample(self, n: int, seed: int) -> F32:
        """Draw up to ``n`` of the vectors held, shape (k, d)."""
        ...


class Keeper(Protocol):
    """A reservoir that coroutines of many shards use at once."""

    async def add(self, vectors: F32) -> None:
        """Offer accepted vectors, shape (m, d)."""
        ...

    async def sample(self, n: int, seed: int) -> F32:
        """Draw up to ``n`` of the vectors held, shape (k, d). Not to be written to: it may lie in shared memory."""
        ...

    async def size(self) -> int:
        """Count the vectors held."""
        ...


@dataclass(frozen=True)
class LocalKeeper:
    """The keeper of a run in one process."""

    reservoir: Reservoir

    async def add(self, vectors: F32) -> None:
        """Offer accepted vectors, shape (m, d)."""
        self.reservoir.add(vectors)

    async def sample(self, n: int, seed: int) -> F32:
        """Draw up to ``n`` of the vectors held, shape (k, d)."""
        return self.reservoir.sample(n, seed)

    async def size(self) -> int:
        """Count the vectors held."""
        return len(self.reservoir)


@dataclass(frozen=True)
class RayKeeper:
    """A handle to the keeper's actor, to be passed to workers on any node."""

    actor: Any

    async def add(self, vectors: F32) -> None:
        """Offer accepted vectors, shape (m, d).

        Raises:
            KeeperUnavailable: its process died; the vectors may or may not have been added.
        """
        await self._call("add", vectors)

    async def sample(self, n: int, seed: int) -> F32:
        """Draw up to ``n`` of the vectors held, shape (k, d).

        Raises:
            KeeperUnavailable: its process died.
        """
        drawn: F32 = await self._call("sample", n, seed)
        return drawn

    async def size(self) -> int:
        """Count the vectors held.

        Raises:
            KeeperUnavailable: its process died.
        """
        return int(await self._call("size"))

    async def _call(self, method: str, *args: object) -> Any:  # noqa: ANN401 - the three callers name the types
        from ray.exceptions import RayActorError, RayTaskError

        try:
            return await getattr(self.actor, method).remote(*args)
        except RayActorError as error:
            raise KeeperUnavailable(f"pool keeper, {method}: {error}") from error
        except RayTaskError as error:  # what the reservoir itself raised
            raise error.cause from error


@contextmanager
def ray_keeper(make: Callable[[], Reservoir]) -> Iterator[RayKeeper]:
    """Keep a reservoir in an actor of the connected cluster for the length of the block.

    Args:
        make: builds the reservoir in the actor; called again if the actor's process dies. Must pickle.
    """
    import ray

    # No task retries: an `add` that is repeated behind our back would count twice.
    actor: Any = ray.remote(num_cpus=0, max_restarts=-1, max_task_retries=0)(_Actor).remote(make)
    try:
        ray.get(actor.size.remote())
        yield RayKeeper(actor)
    finally:
        ray.kill(actor)


class _Actor:
    def __init__(self, make: Callable[[], Reservoir]) -> None:
        self._reservoir = make()

    def add(self, vectors: F32) -> None:
        self._reservoir.add(vectors)

    def sample(self, n: int, seed: int) -> F32:
        return self._reservoir.sample(n, seed)

    def size(self) -> int:
        return len(self._reservoir)
