"""How a batch of records is held, everywhere in this package: flat arrays and row offsets.

Records differ in length, so what they hold lies end to end in one array, and ``row_offsets`` says where each record
begins. Record r of R has the elements ``row_offsets[r]`` up to ``row_offsets[r + 1]``:

    records      [a b c]  []  [d e]
    values       a b c d e                shape (N,)
    row_offsets  0 3 3 5                  shape (R + 1,): begins with 0, ends with N

Tokens, windows, character spans and segments of text are each held so, with row offsets of their own. A token or a
window is named by its place in the flat array. In the shapes of this package R counts records, N tokens, W windows,
S spans, C characters (code points) and U units that are counted.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

Bool = npt.NDArray[np.bool_]
F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
Scores = npt.NDArray[np.float32] | npt.NDArray[np.float64]


def offsets_of(lengths: I64 | Sequence[int]) -> I64:
    """Row offsets of records with these lengths, shape (R,) to (R + 1,)."""
    offsets = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return offsets


def row_numbers(row_offsets: I64) -> I64:
    """The record of each element, shape (R + 1,) to (N,)."""
    return np.repeat(np.arange(row_offsets.size - 1), np.diff(row_offsets))


def ranges(first: I64, counts: I64) -> I64:
    """Lay ``first[i], first[i] + 1, ...``, ``counts[i]`` numbers of them, end to end for all i."""
    offsets = offsets_of(counts)
    return np.arange(offsets[-1]) + np.repeat(first - offsets[:-1], counts)


def check_offsets(row_offsets: I64, size: int, what: str) -> None:
    """Refuse offsets that do not divide ``size`` elements into records.

    Raises:
        ValueError: they do not begin with 0, do not end with ``size``, or fall.
    """
    if row_offsets.ndim != 1 or row_offsets.size == 0 or row_offsets[0] != 0 or row_offsets[-1] != size:
        raise ValueError(f"{what}: row offsets must begin with 0 and end with the {size} elements they divide")
    falls = np.flatnonzero(np.diff(row_offsets) < 0)
    if falls.size:
        raise ValueError(f"{what}: row {int(falls[0])} has a negative length: row offsets must not fall")


def check_sizes(what: str, size: int, arrays: Mapping[str, int]) -> None:
    """Refuse arrays that should run parallel to ``what`` and do not.

    Raises:
        ValueError: the first of ``arrays`` (a name and a length each) that is not ``size`` long.
    """
    for name, length in arrays.items():
        if length != size:
            raise ValueError(f"{name} has {length} elements, but there are {size} {what}: pass one for each")
