"""The pool as the chains of one worker see it: drawn from the run's keeper, decomposed, and shared by a few records."""

import asyncio
from typing import Protocol

import numpy as np
import numpy.typing as npt

from tasks.diversity.vendi import Pool

F32 = npt.NDArray[np.float32]

# To decompose 300 vectors takes 10 ms, a third of all that a record needs, and what comes of it 1.4 MB as long as the
# record is on its way: neighbours in time see the same draw. A small pool is cheap and grows fast, and serves fewer.
SERVES = 8
VECTORS_A_RECORD = 16


class Keeper(Protocol):
    """Who keeps the embeddings of the run's accepted records, seen from here."""

    async def add(self, vectors: F32) -> None:
        """Offer vectors, shape (m, d)."""
        ...

    async def sample(self, n: int, seed: int) -> F32:
        """Draw up to ``n`` vectors, shape (k, d)."""
        ...


class SharedPool:
    """Draws a pool and hands it to up to ``SERVES`` records; to one alone where it has few vectors."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._pool = Pool.prepare(np.zeros((0, 0), np.float32))
        self._left = 0  # records that the pool may still be handed to
        self._drawing = asyncio.Lock()  # those who come while one draws wait for what it draws

    async def prepared(self, size: int, seed: int) -> Pool:
        """Return a pool of up to ``size`` accepted records; ``seed`` decides a new draw."""
        async with self._drawing:
            if not self._left:
                self._pool = Pool.prepare(await self._keeper.sample(size, seed))
                self._left = min(SERVES, 1 + self._pool.size // VECTORS_A_RECORD)
            self._left -= 1
            return self._pool

    async def add(self, vector: F32) -> None:
        """Offer the embedding of an accepted record, shape (d,)."""
        await self._keeper.add(vector[None])
