"""Edit distances between a hidden suffix and everything that was drawn for it."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

I64 = npt.NDArray[np.int64]


def edit_distances(drawn: Sequence[Sequence[int]], hidden: Sequence[int]) -> I64:
    """Return the Levenshtein distance of each continuation to ``hidden`` over token ids, shape (len(drawn),).

    Insertion, deletion and replacement of a token cost 1 each. One table row is worked out for all at once.
    """
    longest = max(map(len, drawn), default=0)
    ids_BT = np.full((len(drawn), longest), -1, dtype=np.int64)  # no token's id: never matches
    for row, each in enumerate(drawn):
        ids_BT[row, : len(each)] = each
    lengths_B = np.array([len(each) for each in drawn], dtype=np.int64)
    width = len(hidden)
    above_BW = np.tile(np.arange(width + 1, dtype=np.int64), (len(drawn), 1))
    found_B: I64 = np.where(lengths_B == 0, width, 0)
    for step in range(longest):
        here_BW = np.empty_like(above_BW)
        here_BW[:, 0] = step + 1
        for place, token in enumerate(hidden):
            replaced_B = above_BW[:, place] + (ids_BT[:, step] != token)
            here_BW[:, place + 1] = np.minimum(replaced_B, np.minimum(above_BW[:, place + 1], here_BW[:, place]) + 1)
        above_BW = here_BW
        found_B = np.where(lengths_B == step + 1, above_BW[:, width], found_B)
    return found_B
