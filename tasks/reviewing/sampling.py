"""Which texts of two pools a review compares: as many of each length from both, so that length tells nothing.

Lengths are cut into bins of equal ratio. From each bin equally many of both pools are drawn, in proportion to what both
have there; of a bin the candidates with the lowest lots. The finest bins are taken that have enough.
"""

import heapq
import math
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

BINS_AN_OCTAVE = (8, 4, 2, 1)  # tried in this order: lengths of a bin differ by a factor of 1.09, 1.19, 1.41, 2 at most


class TooFew(ValueError):
    """The pools do not have enough texts of like length; the message says how many there are."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A text that may be drawn.

    Attributes:
        origin: the data set or the input that it is of.
        name: unique there.
        place: where its reader finds it again.
        words: its length, 1 at least.
        lot: the lowest are drawn.
    """

    origin: str
    name: str
    place: int
    words: int
    lot: int


@dataclass
class Pool:
    """All texts of one source that may be drawn, however many: of each length it keeps as many as can be drawn.

    Attributes:
        count: texts to be drawn.
        lengths: words -> texts.
    """

    count: int
    lengths: Counter[int] = field(default_factory=Counter)
    _kept: defaultdict[int, list[tuple[int, str, str, Candidate]]] = field(default_factory=lambda: defaultdict(list))

    def offer(self, candidate: Candidate) -> None:
        """Take a candidate; keep it while its lot is among the ``count`` lowest of its length."""
        self.lengths[candidate.words] += 1
        heap = self._kept[_bin(candidate.words, BINS_AN_OCTAVE[0])]
        entry = (-candidate.lot, candidate.origin, candidate.name, candidate)
        if len(heap) < self.count:
            heapq.heappush(heap, entry)
        else:
            heapq.heappushpop(heap, entry)

    def rooms(self, bins: int) -> Counter[int]:
        """Return how many texts are in each bin."""
        found = Counter[int]()
        for words, texts in self.lengths.items():
            found[_bin(words, bins)] += texts
        return found

    def lowest(self, shares: Mapping[int, int], bins: int) -> tuple[Candidate, ...]:
        """Return so many candidates of each bin, those with the lowest lots."""
        found = defaultdict[int, list[Candidate]](list)
        for heap in self._kept.values():
            for *_, candidate in heap:
                found[_bin(candidate.words, bins)].append(candidate)
        return tuple(
            candidate
            for place, share in sorted(shares.items())
            for candidate in sorted(found[place], key=lambda each: (each.lot, each.origin, each.name))[:share]
        )


@dataclass(frozen=True, slots=True)
class Drawn:
    """Equally many candidates of both pools; lengths of one bin differ by ``factor`` at most."""

    synthetic: tuple[Candidate, ...]
    human: tuple[Candidate, ...]
    factor: float


def draw_matched(synthetic: Pool, human: Pool, count: int) -> Drawn:
    """Draw ``count`` candidates of each pool.

    Raises:
        TooFew: there are not that many whose lengths match within a factor of two.
    """
    most = 0
    for bins in BINS_AN_OCTAVE:
        room = synthetic.rooms(bins) & human.rooms(bins)  # of each bin what the smaller pool has
        most = room.total()
        if most >= count:
            shares = apportion(room, count)
            return Drawn(synthetic.lowest(shares, bins), human.lowest(shares, bins), 2 ** (1 / bins))
    raise TooFew(
        f"{count:,} of each were asked for. Of {_told(synthetic, 'synthetic')} and {_told(human, 'human-written')} only"
        f" {most:,} of each are of like length (within a factor of two): ask for fewer with --records, or add texts of"
        " the lengths that are missing"
    )


def apportion(room: Mapping[int, int], count: int) -> dict[int, int]:
    """Share ``count`` among bins in proportion to their room, by largest remainder; no bin gets more than it has.

    Raises:
        ValueError: there is not that much room.
    """
    total = sum(room.values())
    if count > total:
        raise ValueError(f"{count} of {total}: more than there are")
    shares = {place: each * count // total for place, each in room.items()} if total else {}
    by_remainder = sorted(shares, key=lambda place: (-(room[place] * count % total), place))
    for place in by_remainder[: count - sum(shares.values())]:  # a bin with a remainder is not full
        shares[place] += 1
    return shares


def longer_share(ours: Sequence[int], theirs: Sequence[int]) -> float:
    """Return how often one of ``ours`` is the longer of a pair, ties by half: 0.5 where length tells nothing.

    Raises:
        ValueError: one of them is empty.
    """
    if not ours or not theirs:
        raise ValueError("lengths of nothing cannot be compared")
    ordered = sorted(theirs)
    twice = sum(bisect_left(ordered, each) + bisect_right(ordered, each) for each in ours)
    return twice / (2 * len(ours) * len(theirs))


def _bin(words: int, bins: int) -> int:
    """Finer bins lie within coarser ones: 8, 4, 2 and 1 divide each other."""
    return math.floor(math.log2(words) * BINS_AN_OCTAVE[0]) // (BINS_AN_OCTAVE[0] // bins)


def _told(pool: Pool, kind: str) -> str:
    if not pool.lengths:
        return f"no {kind} text"
    return f"{pool.lengths.total():,} {kind} texts of {min(pool.lengths):,} to {max(pool.lengths):,} words"
