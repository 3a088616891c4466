"""Scores of windows from scores of tokens (SM equation 1, appendix D); NaN stands for an invalid window."""

from collections.abc import Iterator

import numpy as np

from tasks.surprise.rows import F64, I64, Scores, check_sizes, offsets_of, ranges
from tasks.surprise.windows import Windows

_BLOCK = 1 << 22  # tokens of windows laid out at once: bounds memory, changes no result


def mean_scores(scores: Scores, windows: Windows) -> F64:
    """Mean token score of each window.

        L_i = 1 / |w_i| * sum over j in w_i of nll_j                                (SM eq. 1)

    Each window is added up on its own in float64. For stored float32 scores that is exact (24 of 53 bits), so that
    equal windows have equal scores; differences of one running sum break such ties.

    Args:
        scores: of each token, in nats, shape (N,): NLL, or the contrast of two passes; NaN where there is none.
        windows: over these N tokens.

    Returns:
        Shape (W,); NaN where a token of the window has no finite score.

    Raises:
        ValueError: a window reaches past the scores.
    """
    _check(scores, windows)
    values = scores.astype(np.float64)
    with np.errstate(invalid="ignore"):  # inf - inf: invalid, as the result says
        if windows.width is None:
            sums = np.empty(windows.size)
            for part, laid_out, starts in _blocks(values, windows):
                sums[part] = np.add.reduceat(laid_out, starts)
            means = sums / (windows.stop - windows.first)
        else:
            running = values[: max(values.size - windows.width + 1, 0)].copy()
            for k in range(1, windows.width):
                running += values[k : k + running.size]
            means = running[windows.first] / windows.width
    means[~np.isfinite(means)] = np.nan
    return means


def top_scores(scores: Scores, windows: Windows, count: int) -> F64:
    """Mean of the ``count`` largest token scores of each window, of all where it holds fewer (SM D.5: three).

    Args:
        scores: as of ``mean_scores``, shape (N,).
        windows: over these N tokens.
        count: at least 1.

    Returns:
        Shape (W,); NaN where a token of the window has no finite score.

    Raises:
        ValueError: ``count`` is below 1, or a window reaches past the scores.
    """
    if count < 1:
        raise ValueError(f"the mean of the {count} largest scores: at least 1 is needed")
    _check(scores, windows)
    values = scores.astype(np.float64)
    sums = np.zeros(windows.size)
    for part, laid_out, starts in _blocks(values, windows):
        window = np.repeat(np.arange(starts.size), np.diff(starts, append=laid_out.size))
        invalid = np.logical_or.reduceat(~np.isfinite(laid_out), starts)
        laid_out[invalid[window]] = -np.inf
        for _ in range(count):
            largest = np.maximum.reduceat(laid_out, starts)
            sums[part] += np.where(np.isfinite(largest), largest, 0.0)
            equal = np.flatnonzero(laid_out == largest[window])
            taken = equal[np.append(True, window[equal][1:] != window[equal][:-1])]  # one of them in each window
            laid_out[taken] = -np.inf
        sums[part][invalid] = np.nan
    sums /= np.minimum(windows.stop - windows.first, count)
    return sums


def contrast(nll_violating: Scores, nll_compliant: Scores) -> F64:
    """Contrast of each token between two prompts; its mean over a window is the contrast score.

        s_j = log p(x_j | x_<j, violating) - log p(x_j | x_<j, compliant)           (SM D.4)

    Args:
        nll_violating: under the prompt that asks for what is unwanted, in nats, shape (N,).
        nll_compliant: of the same N tokens of the document under the other prompt.

    Raises:
        ValueError: the two passes differ in length, so they are not aligned.
    """
    check_sizes("tokens under the violating prompt", nll_violating.size, {"the compliant pass": nll_compliant.size})
    with np.errstate(invalid="ignore"):  # inf - inf: invalid, as NaN says
        return np.asarray(nll_compliant.astype(np.float64) - nll_violating.astype(np.float64))


def _blocks(values: F64, windows: Windows) -> Iterator[tuple[slice, F64, I64]]:
    """Lay the windows' scores end to end: which windows, their scores, and where each begins there."""
    offsets = offsets_of(windows.stop - windows.first)
    begin = 0
    while begin < windows.size:
        stop = max(int(np.searchsorted(offsets, offsets[begin] + _BLOCK, side="right")) - 1, begin + 1)
        part = slice(begin, stop)
        counts = windows.stop[part] - windows.first[part]
        yield part, values[ranges(windows.first[part], counts)], offsets[part] - offsets[begin]
        begin = stop


def _check(scores: Scores, windows: Windows) -> None:
    if windows.size and int(windows.stop.max()) > scores.size:
        raise ValueError(f"windows reach token {int(windows.stop.max()) - 1}, but only {scores.size} tokens are scored")
