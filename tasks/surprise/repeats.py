"""Where the same n token ids occur more than once within a group: what duplicate propagation runs along."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from tasks.surprise.rows import I64, Bool, check_offsets, check_sizes, row_numbers
from tasks.surprise.windows import fixed_windows

Straddling = Literal["clip", "strict"]

_MOST_IDS = 1 << 31
_MOST_NUMBERS = 1 << 63


@dataclass(frozen=True, eq=False)
class Repeats:
    """The n-grams that occur at least twice in a group, and their occurrences.

    Attributes:
        width: n.
        start: flat index of the first token of each occurrence, those of one n-gram together, shape (M,).
        offsets: occurrences of each n-gram, shape (G + 1,).
        at: the n-gram that begins at each token, -1 where none of these does, shape (N,).
        supervised: True where a token may be masked, shape (N,).
    """

    width: int
    start: I64
    offsets: I64
    at: I64
    supervised: Bool


def find_repeats(
    ids: I64,
    row_offsets: I64,
    groups: I64,
    supervised: Bool,
    *,
    width: int,
    straddling: Straddling = "clip",
) -> Repeats:
    """List the occurrences of every n-gram that a group holds twice, exactly and in O(N log N).

    An n-gram of 2a tokens is numbered by the pair of numbers of its halves, and numbers are made small by sorting: no
    hash, so nothing to collide and nothing to verify.

    Args:
        ids: token ids of the reference model, shape (N,), at least 0.
        row_offsets: tokens of each record, shape (R + 1,); n-grams never cross a record.
        groups: group of each record (identity, user), shape (R,); records below 0 belong to none and are left alone.
        supervised: True where a token may be masked, shape (N,).
        width: n, at least 1.
        straddling: occurrences partly outside supervision are masked as far as they are supervised (``clip``) or
            not at all (``strict``).

    Raises:
        ValueError: ``width`` is below 1, an id is not below 2**31, or the arrays do not fit together.
    """
    check_offsets(row_offsets, ids.size, "tokens")
    check_sizes("tokens", ids.size, {"supervised": supervised.size})
    check_sizes("records", row_offsets.size - 1, {"groups": groups.size})
    wrong = np.flatnonzero((ids < 0) | (ids >= _MOST_IDS))
    if wrong.size:
        raise ValueError(f"token {int(wrong[0])}: id {int(ids[wrong[0]])} is not between 0 and 2**31")
    token_group = groups[row_numbers(row_offsets)]
    start = fixed_windows(row_offsets, width).first
    inside = np.append(0, np.cumsum(supervised))
    held = inside[start + width] - inside[start]
    start = start[(token_group[start] >= 0) & (held >= (width if straddling == "strict" else 1))]

    number = _numbered(ids, groups, row_offsets, width)[start]
    order = np.argsort(number, kind="stable")
    start, number = start[order], number[order]
    begins = np.flatnonzero(np.append(True, number[1:] != number[:-1])[: number.size])
    counts = np.diff(np.append(begins, number.size))
    repeated = counts > 1
    start = start[np.repeat(repeated, counts)]
    counts = counts[repeated]
    at = np.full(ids.size, -1, dtype=np.int64)
    at[start] = np.repeat(np.arange(counts.size), counts)
    return Repeats(width, start, np.append(0, np.cumsum(counts)), at, supervised)


def _numbered(ids: I64, groups: I64, row_offsets: I64, width: int) -> I64:
    """Equal numbers for equal n-grams of a group, each at its first token, shape (N,); other tokens hold noise."""
    dense = np.unique(groups, return_inverse=True)[1]
    vocabulary = int(ids.max(initial=0)) + 1
    numbers = dense[row_numbers(row_offsets)] * vocabulary + ids
    bound, length = (int(dense.max(initial=0)) + 1) * vocabulary, 1
    while length < width:
        if bound * bound >= _MOST_NUMBERS:
            numbers = _ranked(numbers)
            bound = int(numbers.max(initial=0)) + 1
        longer = min(2 * length, width)  # where that is less than twice, the halves share tokens
        begins = fixed_windows(row_offsets, longer).first
        numbers[begins] = numbers[begins] * bound + numbers[begins + longer - length]
        bound, length = bound * bound, longer
    return numbers


def _ranked(values: I64) -> I64:
    """Dense ranks: equal where the values are, from 0."""
    order = np.argsort(values, kind="stable")
    ordered = values[order]
    ordered[1:] = ordered[1:] != ordered[:-1]
    ordered[:1] = 0
    ranks = np.empty_like(values)
    ranks[order] = np.cumsum(ordered, out=ordered)
    return ranks
