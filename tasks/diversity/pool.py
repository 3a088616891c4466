"""The embeddings of accepted records from which every record's pool is drawn (PV section 2.1.3)."""

from dataclasses import dataclass, field
from typing import Self

import numpy as np
import numpy.typing as npt

from tasks.diversity.vendi import Vectors, unit_rows

F32 = npt.NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ReservoirState:
    """All that a reservoir is: one rebuilt from it takes the same turns. At most 4 x capacity x d bytes and change."""

    seed: int
    capacity: int
    seen: int  # vectors offered so far
    vectors: F32 = field(repr=False)  # (min(seen, capacity), d), in slot order


class Reservoir:
    """A uniform sample of fixed size from a stream of unit vectors (Waterman's algorithm R).

    Vector i of the stream takes slot i while there is room; later it takes slot floor(U_i (i + 1)), if there is one of
    that number. U_i depends on the seed and i alone, so how the stream is cut into batches does not matter, and no
    generator's state needs keeping.
    """

    def __init__(self, seed: int, capacity: int = 8192) -> None:
        if capacity < 1:
            raise ValueError(f"capacity {capacity}: a reservoir holds at least one vector")
        self._seed = seed
        self._capacity = capacity
        self._seen = 0
        self._slots = np.empty((0, 0), dtype=np.float32)  # (capacity, d) from the first vector on

    def __len__(self) -> int:
        """How many vectors are held."""
        return min(self._seen, self._capacity)

    @property
    def seen(self) -> int:
        """How many vectors were offered."""
        return self._seen

    def add(self, vectors: Vectors) -> None:
        """Offer accepted embeddings in their order; kept as float32.

        Args:
            vectors: unit vectors of shape (m, d); the first call with m > 0 fixes d.

        Raises:
            ValueError: a row is not a unit vector, or has another dimension than those held; nothing was added.
        """
        rows = unit_rows(vectors, what="accepted row")
        if not len(rows):
            return
        if not self._seen:
            self._slots = np.empty((self._capacity, rows.shape[1]), dtype=np.float32)
        if rows.shape[1] != self._slots.shape[1]:
            raise ValueError(f"vectors have {rows.shape[1]} dimensions, the reservoir {self._slots.shape[1]}")
        slots = self._slots_of_next(len(rows))
        kept = slots < self._capacity
        self._slots[slots[kept]] = rows[kept]  # of two that take one slot, the later stays
        self._seen += len(rows)

    def sample(self, n: int, seed: int) -> F32:
        """Draw up to ``n`` held vectors without replacement.

        Returns:
            Shape (min(n, held), d); (0, 0) before anything was added. The same seed draws the same of the same state.
        """
        drawn = np.random.default_rng(seed).choice(len(self), size=min(n, len(self)), replace=False, shuffle=False)
        return self._slots[drawn]

    @property
    def state(self) -> ReservoirState:
        """A copy of all that ``from_state`` needs."""
        return ReservoirState(self._seed, self._capacity, self._seen, self._slots[: len(self)].copy())

    @classmethod
    def from_state(cls, state: ReservoirState) -> Self:
        """The reservoir that ``state`` was taken of."""
        reservoir = cls(state.seed, state.capacity)
        if state.seen:
            reservoir._slots = np.empty((state.capacity, state.vectors.shape[1]), dtype=np.float32)
            reservoir._slots[: len(state.vectors)] = state.vectors
        reservoir._seen = state.seen
        return reservoir

    def _slots_of_next(self, m: int) -> npt.NDArray[np.int64]:
        """The slot of each of the next ``m`` vectors; one at or beyond the capacity means: not kept."""
        position = np.arange(self._seen, self._seen + m)
        uniform = np.random.Generator(np.random.PCG64(self._seed).advance(self._seen)).random(m)
        return np.where(position < self._capacity, position, (uniform * (position + 1)).astype(np.int64))
