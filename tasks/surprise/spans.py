"""Character spans of a batch of texts, and the one question asked of them: do they overlap?"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from tasks.surprise.rows import I64, Bool, check_offsets, check_sizes, offsets_of, row_numbers


@dataclass(frozen=True, eq=False)
class Spans:
    """Half-open intervals ``[start, end)`` in code points of each row's text, in any order, empty ones allowed."""

    start: I64  # (S,)
    end: I64  # (S,)
    row_offsets: I64  # (R + 1,)

    def __post_init__(self) -> None:
        check_offsets(self.row_offsets, self.start.size, "spans")
        check_sizes("span starts", self.start.size, {"span ends": self.end.size})
        bad = np.flatnonzero((self.start < 0) | (self.end < self.start))
        if bad.size:
            at = int(bad[0])
            row = int(row_numbers(self.row_offsets)[at])
            raise ValueError(f"row {row}: [{self.start[at]}, {self.end[at]}) is no span: 0 <= start <= end is needed")

    @classmethod
    def of(cls, rows: Iterable[Iterable[tuple[int, int]]]) -> Self:
        """Hold the pairs (start, end) of each row."""
        listed = [list(row) for row in rows]
        pairs = np.array([pair for row in listed for pair in row], dtype=np.int64).reshape(-1, 2)
        return cls(pairs[:, 0].copy(), pairs[:, 1].copy(), offsets_of([len(row) for row in listed]))

    @property
    def rows(self) -> int:
        """R, the number of texts."""
        return self.row_offsets.size - 1

    def pairs(self) -> list[list[tuple[int, int]]]:
        """Give each row's spans as pairs (start, end), the inverse of ``of``."""
        bounds = list(zip(self.start.tolist(), self.end.tolist(), strict=True))
        return [bounds[a:b] for a, b in pairwise(self.row_offsets)]


def keys(spans: Spans, stride: int) -> tuple[I64, I64]:
    """Starts and ends as places in one line in which row r begins at ``r * stride``: sorted searches serve all rows."""
    base = row_numbers(spans.row_offsets) * stride
    return base + spans.start, base + spans.end


def stride_of(*batches: Spans) -> int:
    """Room for one row in the line of ``keys``: one more than any end, so that rows never touch."""
    return 1 + max((int(spans.end.max(initial=0)) for spans in batches), default=0)


def union(spans: Spans) -> Spans:
    """Merge spans that overlap or touch; what is left is sorted, disjoint and not empty."""
    stride = stride_of(spans)
    start, end = keys(spans, stride)
    kept = end > start
    start, end = start[kept], end[kept]
    order = np.argsort(start, kind="stable")
    start, end = start[order], np.maximum.accumulate(end[order])
    opens = np.ones(start.size, dtype=np.bool_)
    opens[1:] = start[1:] > end[:-1]
    first = np.flatnonzero(opens)
    last = np.append(first[1:], start.size)[: first.size] - 1
    row = start[first] // stride
    return Spans(start[first] - row * stride, end[last] - row * stride, np.searchsorted(row, np.arange(spans.rows + 1)))


def overlaps(spans: Spans, others: Spans) -> Bool:
    """Mark each span [c, d) with ``max(a, c) < min(b, d)`` for some [a, b) of ``others`` in the same row, shape (S,).

    Raises:
        ValueError: the two are not of the same rows.
    """
    if spans.rows != others.rows:
        raise ValueError(f"spans of {spans.rows} texts cannot be compared with spans of {others.rows}")
    merged = union(others)
    stride = stride_of(spans, merged)
    start, end = keys(spans, stride)
    other_start, other_end = keys(merged, stride)
    if other_start.size == 0:
        return np.zeros(start.size, dtype=np.bool_)
    nearest = np.searchsorted(other_end, start, side="right")  # the first that ends after this one begins
    exists = nearest < other_start.size
    begins = other_start[np.minimum(nearest, other_start.size - 1)]
    return exists & (begins < end) & (start < end)


def flags(spans: Spans, lengths: I64) -> Bool:
    """Mark the characters inside any span.

    Args:
        spans: of R texts.
        lengths: code points of each text, shape (R,).

    Returns:
        One flag for each character of all texts end to end, shape (C,) with C = sum of ``lengths``.

    Raises:
        ValueError: a span ends after its text, or ``lengths`` is not one number a text.
    """
    check_sizes("texts", spans.rows, {"lengths": lengths.size})
    row = row_numbers(spans.row_offsets)
    late = np.flatnonzero(spans.end > lengths[row])
    if late.size:
        at = int(late[0])
        raise ValueError(
            f"row {row[at]}: span [{spans.start[at]}, {spans.end[at]}) ends after the text's {lengths[row[at]]}"
            " code points: are these offsets bytes or UTF-16 units?"
        )
    merged = union(spans)
    offsets = offsets_of(lengths)
    base = offsets[:-1][row_numbers(merged.row_offsets)]
    steps = np.zeros(int(offsets[-1]) + 1, dtype=np.int8)
    steps[base + merged.start] += 1  # disjoint spans: no two start, and no two end, at one place
    steps[base + merged.end] -= 1
    return np.cumsum(steps[:-1], dtype=np.int8).astype(np.bool_)


def runs(marked: Bool, lengths: I64) -> Spans:
    """Give the runs of marked characters, the inverse of ``flags``: sorted, disjoint, none across two texts.

    Args:
        marked: all characters end to end, shape (C,).
        lengths: code points of each text, shape (R,).

    Raises:
        ValueError: there is not one flag a character.
    """
    offsets = offsets_of(lengths)
    check_sizes("characters", int(offsets[-1]), {"flags": marked.size})
    held = lengths > 0
    before, after = np.append(False, marked)[:-1], np.append(marked, False)[1:]
    before[offsets[:-1][held]] = False
    after[offsets[1:][held] - 1] = False
    start, end = np.flatnonzero(marked & ~before), np.flatnonzero(marked & ~after) + 1
    row = np.searchsorted(offsets, start, side="right") - 1
    return Spans(start - offsets[row], end - offsets[row], np.searchsorted(row, np.arange(lengths.size + 1)))
