"""The pool as the chains of one worker see it: drawn from the run's keeper, decomposed, and shared by a few records."""

from typing import Protocol

import numpy as np
import numpy.typing as npt

from tasks.diversity.vendi import Pool

F32 = npt.NDArray[np.float32]

# Decomposing 300 vectors takes 10 ms, a third of all that a record needs: neighbours in time see the same draw.
SERVES = 8


class Keeper(Protocol):
    """Who keeps the embeddings of the run's accepted records, seen from here."""

    async def add(self, vectors: F32) -> None:
        """Offer vectors, shape (m, d)."""
        ...

    async def sample(self, n: int, seed: int) -> F32:
        """Draw up to ``n`` vectors, shape (k, d)."""
        ...


class SharedPool:
    """Draws a pool and hands it to up to ``SERVES`` records; one that is not full yet is drawn anew for each."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._pool = Pool.prepare(np.zeros((0, 0), np.float32))
        self._served = 0

    async def prepared(self, size: int, seed: int) -> Pool:
        """Return a pool of up to ``size`` accepted records; ``seed`` decides a new draw."""
        if self._pool.size < size or self._served >= SERVES:
            self._pool = Pool.prepare(await self._keeper.sample(size, seed))
            self._served = 0
        self._served += 1
        return self._pool

    async def add(self, vector: F32) -> None:
        """Offer the embedding of an accepted record, shape (d,)."""
        await self._keeper.add(vector[None])
