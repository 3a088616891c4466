"""Which rows a shard holds, and how wanted rows are cut into shards without moving a single committed row."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

_NAME = re.compile(r"part-(\d{8,})-(\d{8,})")


@dataclass(frozen=True, slots=True, order=True)
class ShardRange:
    """The half-open range of row indices ``start <= index < stop``.

    Raises:
        ValueError: the range is empty or starts below zero.
    """

    start: int
    stop: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.stop:
            raise ValueError(f"rows {self.start}..{self.stop}: a range needs 0 <= start < stop")

    def __len__(self) -> int:
        return self.stop - self.start

    @property
    def name(self) -> str:
        """The stem of every file of this shard, such as ``part-00000000-00000512``."""
        return f"part-{self.start:08d}-{self.stop:08d}"

    @classmethod
    def parse(cls, name: str) -> "ShardRange":
        """Return the range that ``name`` stands for.

        Raises:
            ValueError: ``name`` is not what a range would call itself.
        """
        if match := _NAME.fullmatch(name):
            shard = cls(int(match[1]), int(match[2]))
            if shard.name == name:
                return shard
        raise ValueError(f"{name!r} is not the name of a shard (expected such as part-00000000-00000512)")

    @classmethod
    def of_file(cls, name: str, suffix: str) -> "ShardRange | None":
        """Return the shard whose file with ``suffix`` has this ``name``, or None where it is no such file."""
        try:
            return cls.parse(name.removesuffix(suffix)) if name.endswith(suffix) else None
        except ValueError:
            return None

    def overlaps(self, other: "ShardRange") -> bool:
        """Tell whether some row is in both."""
        return self.start < other.stop and other.start < self.stop

    def contains(self, other: "ShardRange") -> bool:
        """Tell whether every row of ``other`` is here."""
        return self.start <= other.start and other.stop <= self.stop


def cover(
    wanted: ShardRange, committed: Iterable[ShardRange], opened: Iterable[ShardRange], size: int
) -> list[ShardRange]:
    """Cut the rows of ``wanted`` that no committed shard holds into shards, in order.

    A begun shard stays as it is, so that what it has paid for is found again; one that reaches into committed rows or
    out of ``wanted`` cannot. The rest is cut at multiples of ``size``: neither a larger record count nor another shard
    size moves a row that is done.

    Args:
        wanted: the rows asked for.
        committed: ranges that are done; they may reach out of ``wanted``.
        opened: ranges that were begun and not committed.
        size: rows of a whole new shard.

    Raises:
        ValueError: ``size`` is below 1.
    """
    if size < 1:
        raise ValueError(f"shard size {size}: a shard holds at least one row")
    committed = list(committed)
    free = list(_holes(wanted, committed))
    kept: list[ShardRange] = []
    for shard in sorted(opened):
        position = bisect_right(free, shard.start, key=lambda hole: hole.start) - 1
        fits = position >= 0 and free[position].contains(shard)
        if fits and not (kept and kept[-1].overlaps(shard)):
            kept.append(shard)
    rest = _holes(wanted, [*committed, *kept])
    return sorted([*kept, *(piece for hole in rest for piece in _cut(hole, size))])


def _holes(wanted: ShardRange, taken: Iterable[ShardRange]) -> Iterator[ShardRange]:
    """Yield the stretches of ``wanted`` that no range of ``taken`` covers, in order."""
    start = wanted.start
    for shard in sorted(taken):
        if start < min(shard.start, wanted.stop):
            yield ShardRange(start, min(shard.start, wanted.stop))
        start = max(start, shard.stop)
    if start < wanted.stop:
        yield ShardRange(start, wanted.stop)


def _cut(hole: ShardRange, size: int) -> Iterator[ShardRange]:
    """Yield the pieces of ``hole`` between multiples of ``size``."""
    start = hole.start
    while start < hole.stop:
        stop = min(hole.stop, (start // size + 1) * size)
        yield ShardRange(start, stop)
        start = stop
