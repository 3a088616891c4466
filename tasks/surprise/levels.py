"""Levels: the highest threshold at which something is masked, so that one pass serves every threshold.

A level is compared with a threshold as a score is (the larger, the sooner masked), and -inf is never masked. Windows
have levels by their rule, tokens by consensus over windows, characters by the tokens that cover them.
"""

import numpy as np

from tasks.surprise.rows import F64, I64, check_sizes, offsets_of, ranges, row_numbers
from tasks.surprise.tokens import Tokens
from tasks.surprise.windows import Windows

_BLOCK = 1 << 18  # tokens whose windows are compared at once


def token_levels(windows: Windows, window_levels: F64, votes: int, tokens: int) -> F64:
    """Level of each token under a consensus of ``votes`` windows: the k-th highest level of the windows that hold it.

    At any threshold, at least k selected windows hold a token exactly if the k-th highest of them is selected.

    Args:
        windows: over the N tokens.
        window_levels: shape (W,), without NaN.
        votes: k, at least 1.
        tokens: N.

    Returns:
        Shape (N,); -inf for tokens that fewer than k windows hold.

    Raises:
        ValueError: there is not one level a window, a level is NaN, or ``votes`` is below 1.
    """
    check_sizes("windows", windows.size, {"window levels": window_levels.size})
    if votes < 1:
        raise ValueError(f"a consensus of {votes} windows: at least 1 is needed")
    if np.isnan(window_levels).any():
        raise ValueError(f"window {int(np.argmax(np.isnan(window_levels)))}: level NaN; -inf is for invalid windows")
    if windows.width is None:
        return _by_sorting(windows, window_levels, votes, tokens)
    return _by_sliding(windows, windows.width, window_levels, votes, tokens)


def _by_sliding(windows: Windows, width: int, window_levels: F64, votes: int, tokens: int) -> F64:
    """For windows of one width: token j is in those that begin at j - width + 1 up to j."""
    if votes > width:
        return np.full(tokens, -np.inf)
    begun = np.full(tokens + width - 1, -np.inf)
    begun[windows.first + width - 1] = window_levels
    levels = np.empty(tokens)
    for begin in range(0, tokens, _BLOCK):
        part = begun[begin : min(begin + _BLOCK, tokens) + width - 1]
        held = np.lib.stride_tricks.sliding_window_view(part, width)
        levels[begin : begin + _BLOCK] = np.partition(held, width - votes, axis=1)[:, width - votes]
    return levels


def _by_sorting(windows: Windows, window_levels: F64, votes: int, tokens: int) -> F64:
    """For windows of any width: the levels of each token's windows, highest first."""
    widths = windows.stop - windows.first
    token, level = ranges(windows.first, widths), np.repeat(window_levels, widths)
    order = np.lexsort((-level, token))
    held = np.bincount(token, minlength=tokens)
    enough = held >= votes
    levels = np.full(tokens, -np.inf)
    levels[enough] = level[order[offsets_of(held)[:-1][enough] + votes - 1]]
    return levels


def character_levels(tokens: Tokens, levels: F64, lengths: I64) -> F64:
    """Level of each character: the highest of the tokens that cover it.

    Args:
        tokens: of R texts.
        levels: of the tokens, shape (N,).
        lengths: code points of each text, shape (R,).

    Returns:
        All characters end to end, shape (C,); -inf where no token reaches, as past the cut of a text.

    Raises:
        ValueError: there is not one level a token, or a text is shorter than its tokens.
    """
    check_sizes("tokens", tokens.size, {"token levels": levels.size})
    check_sizes("rows of tokens", tokens.spans.rows, {"lengths": lengths.size})
    row = row_numbers(tokens.row_offsets)
    late = np.flatnonzero(tokens.spans.end > lengths[row])
    if late.size:
        at = int(late[0])
        raise ValueError(f"row {row[at]}: a token ends at {tokens.spans.end[at]}, the text at {lengths[row[at]]}")
    offsets = offsets_of(lengths)
    widths = tokens.spans.end - tokens.spans.start
    reached = np.full(int(offsets[-1]), -np.inf)
    np.maximum.at(reached, ranges(offsets[:-1][row] + tokens.spans.start, widths), np.repeat(levels, widths))
    return reached
