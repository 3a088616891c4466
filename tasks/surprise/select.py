"""Which windows are surprising, and which tokens that masks (SM section 2, D.1 to D.3)."""

import math

import numpy as np

from tasks.surprise.rows import F64, I64, Bool, row_numbers
from tasks.surprise.windows import Windows

NEIGHBOURS = 32  # on each side, SM D.2

_BLOCK = 1 << 15  # windows ranked at once: their scores stay in the processor's cache


def select_global(scores: F64, tau: float) -> Bool:
    """Select windows by one threshold: ``b_i = 1 iff L_i >= tau``; ties select (SM D.1).

    Args:
        scores: of the windows, shape (W,); NaN is an invalid window and never selected.
        tau: in the unit of the scores.

    Raises:
        ValueError: ``tau`` is NaN.
    """
    if math.isnan(tau):
        raise ValueError("tau is NaN: calibrate a threshold first")
    return np.asarray(scores >= tau)


def select_local(ranks: F64, r_max: float) -> Bool:
    """Select windows by their rank among neighbours: ``b_i = 1 iff r_i < r_max`` (SM D.2).

    Args:
        ranks: of ``local_ranks``, shape (W,); NaN is never selected.
        r_max: in percent, at most 100.

    Raises:
        ValueError: ``r_max`` is NaN, or above 100 and so would select windows tied with all their neighbours.
    """
    if not r_max <= 100.0:
        raise ValueError(f"r_max is {r_max}: a percentage of at most 100 is needed; calibrate it")
    return np.asarray(ranks < r_max)


def local_ranks(scores: F64, row_offsets: I64, neighbours: int = NEIGHBOURS) -> F64:
    """Rank each window among up to ``neighbours`` windows on each side of it in its record.

        r_i = 100 / |N_i| * sum over j in N_i of [l_i >= l_j]  with l = -score      (SM D.2)

    N_i holds the valid windows at most ``neighbours`` places away, without i. A tie counts against selection: among
    equals every rank is 100, and 0 is the most surprising window of its surroundings.

    Args:
        scores: of the windows, shape (W,); NaN is an invalid window.
        row_offsets: windows of each record, shape (R + 1,).
        neighbours: at least 1.

    Returns:
        Percent, shape (W,); NaN where the window is invalid or has no valid neighbour.

    Raises:
        ValueError: ``neighbours`` is below 1.
    """
    if neighbours < 1:
        raise ValueError(f"ranks among {neighbours} neighbours on each side: at least 1 is needed")
    rows = row_numbers(row_offsets)
    valid = ~np.isnan(scores)
    valid_before = np.append(0, np.cumsum(valid))  # whole numbers: a difference is exact
    padded = np.concatenate([np.full(neighbours, np.nan), scores, np.full(neighbours, np.nan)])
    ranks = np.full(scores.size, np.nan)
    for begin in range(0, scores.size, _BLOCK):
        at = np.arange(begin, min(begin + _BLOCK, scores.size))
        row = rows[at[0] : at[-1] + 1]
        before = np.minimum(at - row_offsets[row], neighbours)
        after = np.minimum(row_offsets[row + 1] - 1 - at, neighbours)
        part = slice(begin, begin + at.size)
        others = valid_before[at + after + 1] - valid_before[at - before] - 1  # itself, where it is valid
        beaten = _not_above(padded, part, before, after, neighbours)
        np.divide(100.0 * beaten, others, out=ranks[part], where=valid[part] & (others > 0))
    return ranks


def _not_above(padded: F64, part: slice, before: I64, after: I64, neighbours: int) -> I64:
    """Count, for each window of ``part``, the neighbours whose score its own does not exceed; no NaN is counted."""
    own = padded[part.start + neighbours : part.stop + neighbours]
    count = np.zeros(own.size, dtype=np.int64)
    for distance in range(1, neighbours + 1):
        left, right = part.start + neighbours - distance, part.start + neighbours + distance
        count += (own <= padded[left : left + own.size]) & (before >= distance)
        count += (own <= padded[right : right + own.size]) & (after >= distance)
    return count


def consensus(windows: Windows, selected: Bool, votes: int, tokens: int) -> Bool:
    """Mask the tokens that at least ``votes`` selected windows hold.

        v_j = sum over i of [w_i is selected and j in w_i],   m_j = 1 iff v_j >= k  (SM D.3; k = 1 is eq. 2)

    Args:
        windows: over the N tokens.
        selected: shape (W,).
        votes: k, at least 1.
        tokens: N.

    Returns:
        The mask, shape (N,).

    Raises:
        ValueError: ``votes`` is below 1.
    """
    if votes < 1:
        raise ValueError(f"a consensus of {votes} windows: at least 1 is needed")
    steps = np.bincount(windows.first[selected], minlength=tokens + 1)
    steps -= np.bincount(windows.stop[selected], minlength=tokens + 1)
    return np.asarray(np.cumsum(steps[:tokens]) >= votes)
