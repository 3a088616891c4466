"""How often each of millions of 8-byte hashes was seen, in 20 to 40 bytes a hash (a dict takes 100)."""

from array import array

import numpy as np

_FULLEST = 0.6  # share of slots in use before the table doubles


class Sightings:
    """A hash table with open addressing in two flat arrays; keys are hashes already, so their low bits are the slot."""

    def __init__(self) -> None:
        self._allocate(1 << 12)

    def _allocate(self, slots: int) -> None:
        self._keys, self._counts = array("Q", bytes(8 * slots)), array("I", bytes(4 * slots))
        self._mask, self._used = slots - 1, 0

    def __len__(self) -> int:
        """Return the number of different hashes."""
        return self._used

    def add(self, key: int) -> int:
        """Count ``key`` once more and return how often it was seen before."""
        slot = self._slot(key)
        before = self._counts[slot]
        self._counts[slot] = before + 1
        if before == 0:
            self._keys[slot] = key
            self._used += 1
            if self._used > _FULLEST * len(self._keys):
                self._grow()
        return before

    def repeated(self) -> dict[int, int]:
        """Return the hashes seen more than once, with how often."""
        return {self._keys[slot]: self._counts[slot] for slot in np.flatnonzero(np.asarray(self._counts) > 1).tolist()}

    def _slot(self, key: int) -> int:
        slot = key & self._mask
        while self._counts[slot] and self._keys[slot] != key:
            slot = (slot + 1) & self._mask
        return slot

    def _grow(self) -> None:
        keys, counts, used = self._keys, self._counts, self._used
        self._allocate(2 * len(keys))
        self._used = used
        for key, count in zip(keys, counts, strict=True):
            if count:
                slot = self._slot(key)
                self._keys[slot], self._counts[slot] = key, count
