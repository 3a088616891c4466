"""A seeded sample of embeddings that does not depend on the order in which shards are read."""

import hashlib
import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

F32 = npt.NDArray[np.float32]


def lots(seed: int, record_ids: Iterable[str]) -> list[int]:
    """Draw each record's number, below 2**63. A sample is the records with the lowest numbers."""
    key = str(seed).encode()
    return [
        int.from_bytes(hashlib.blake2b(record_id.encode(), key=key, digest_size=8).digest(), "big") >> 1
        for record_id in record_ids
    ]


@dataclass
class VectorSample:
    """The embeddings of the ``size`` records with the lowest lots."""

    size: int
    _heap: list[tuple[int, int, F32]] = field(default_factory=list)  # lots negated: the highest is first to go
    _offers: int = 0  # tells equal lots apart, so that vectors are never compared

    def offer(self, lot: int, vector: F32) -> None:
        """Take the embedding of a record if its lot is low enough."""
        self._offers += 1
        if len(self._heap) < self.size:
            heapq.heappush(self._heap, (-lot, self._offers, vector.copy()))  # a view would keep its whole shard
        elif -lot > self._heap[0][0]:
            heapq.heapreplace(self._heap, (-lot, self._offers, vector.copy()))

    def vectors(self) -> F32:
        """Return the sample, lowest lot first, shape (n, d); (0, 0) of nothing."""
        ordered = sorted(self._heap, key=lambda entry: (-entry[0], entry[1]))
        return np.stack([vector for _, _, vector in ordered]) if ordered else np.empty((0, 0), np.float32)


def near_share(vectors: F32, cosine: float) -> float | None:
    """Return the share of unit vectors, shape (n, d), that have another at ``cosine`` or above; None below two."""
    if len(vectors) < 2:
        return None
    similar = vectors @ vectors.T
    np.fill_diagonal(similar, -1.0)
    return float(np.mean(similar.max(axis=1) >= cosine))
