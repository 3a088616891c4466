"""Duplicate propagation (SM appendix D): a masked n-gram masks every occurrence of it in its group."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.surprise.repeats import Repeats
from tasks.surprise.rows import F64, I64, Bool, check_sizes, ranges

Levels = npt.NDArray[np.int32]


def propagate(mask: Bool, repeats: Repeats) -> Bool:
    """Mask all occurrences of every n-gram that is masked whole somewhere, until nothing changes.

    Whether an n-gram is masked whole is read from the mask, not from the selected windows: adjacent runs make new
    n-grams, and what is masked on the way may complete others. The result is the least mask that holds the given one
    and is closed under the rule, so it is the same in whatever order the n-grams come. Each n-gram fires once and each
    token flips once: O(N n) after ``find_repeats``.

    Args:
        mask: after consensus and the restriction to supervised tokens, shape (N,).
        repeats: of the same tokens.

    Raises:
        ValueError: the sizes differ, or an unsupervised token is masked.
    """
    check_sizes("tokens", repeats.at.size, {"the mask": mask.size})
    _check_supervised(mask, repeats)
    levels = mask.astype(np.int32)
    _raise_by_one(levels, np.zeros(repeats.offsets.size - 1, dtype=np.int32), np.flatnonzero(mask), repeats)
    return levels.astype(np.bool_)


def propagate_levels(levels: F64, repeats: Repeats) -> F64:
    """Propagate at all thresholds at once: ``(result >= t)`` equals ``propagate(levels >= t)`` for every t.

    The result is the least solution of A_j >= a_j and A_j >= min over w' of A for every occurrence w' of an n-gram
    that also occurs over j. It is found bit by bit of the levels' ranks, highest bit first: dropping low bits keeps
    order, so the ranks without their last bits propagate to A without its last bits, and with the next bit each rank
    rises by one or stays. That is one propagation a bit, O(N n log N) in all, with no threshold tried out.

    Args:
        levels: a_j, the highest threshold at which each token is masked, shape (N,); -inf where none masks it.
        repeats: of the same tokens.

    Raises:
        ValueError: the sizes differ, a level is NaN, or an unsupervised token has one.
    """
    check_sizes("tokens", repeats.at.size, {"levels": levels.size})
    if np.isnan(levels).any():
        raise ValueError(f"token {int(np.argmax(np.isnan(levels)))}: level NaN; -inf is for tokens never masked")
    _check_supervised(levels > -np.inf, repeats)
    values, ranks = np.unique(np.append(levels, -np.inf), return_inverse=True)  # rank 0 is -inf
    wanted = ranks[:-1].astype(np.int32)
    reached = np.zeros(levels.size, dtype=np.int32)
    fired = np.zeros(repeats.offsets.size - 1, dtype=np.int32)
    for bit in reversed(range(int(values.size - 1).bit_length())):
        reached *= 2
        fired *= 2
        rising = np.flatnonzero((wanted >> bit) > reached)
        reached[rising] += 1
        _raise_by_one(reached, fired, rising, repeats)
    return np.asarray(values[reached])


def _raise_by_one(levels: Levels, fired: Levels, risen: I64, repeats: Repeats) -> None:
    """Close ``levels`` under the rule, in place, after the tokens ``risen`` rose by one from a closed state.

    Nothing rises twice: a token already at its n-gram's new level is left alone.

    Args:
        levels: of the tokens, shape (N,).
        fired: of each repeated n-gram, the highest of the least levels of its occurrences, shape (G,).
        risen: flat token indices.
        repeats: the n-grams.
    """
    while risen.size:
        ngrams = _firing(levels, fired, np.sort(risen), repeats)
        counts = repeats.offsets[ngrams + 1] - repeats.offsets[ngrams]
        start = repeats.start[ranges(repeats.offsets[ngrams], counts)]
        level = np.repeat(fired[ngrams], counts)
        rounds = []
        for k in range(repeats.width):  # for one k all tokens differ, as all starts do
            token = start + k
            below = (levels[token] < level) & repeats.supervised[token]
            levels[token[below]] = level[below]
            rounds.append(token[below])
        risen = np.concatenate(rounds)


def _firing(levels: Levels, fired: Levels, risen: I64, repeats: Repeats) -> I64:
    """The n-grams of which an occurrence over a token of ``risen`` (sorted) now stands whole above ``fired``."""
    reach = np.minimum(np.diff(risen, prepend=-repeats.width), repeats.width)  # windows not over the token before
    window = ranges(risen - reach + 1, reach)
    window = window[window >= 0]
    window = window[repeats.at[window] >= 0]
    least = fired[repeats.at[window]] + 1
    for k in range(repeats.width):
        whole = levels[window + k] >= least
        window, least = window[whole], least[whole]
    ngrams = np.unique(repeats.at[window])
    fired[ngrams] += 1
    return ngrams


def _check_supervised(masked: Bool, repeats: Repeats) -> None:
    outside = masked & ~repeats.supervised
    if outside.any():
        raise ValueError(f"token {int(np.argmax(outside))} is masked but not supervised: restrict the mask first")


@dataclass(frozen=True)
class Spread:
    """An n-gram that propagation ran along: look at it when it is no secret."""

    ids: tuple[int, ...]
    first: int  # flat index of the first token of one occurrence
    occurrences: int
    tokens_added: int  # tokens of its occurrences that propagation masked; n-grams that overlap share some


def most_spread(before: Bool, after: Bool, ids: I64, repeats: Repeats, most: int) -> list[Spread]:
    """List the n-grams that spread furthest, by the tokens that propagation masked in their occurrences.

    Args:
        before: the mask given to ``propagate``, shape (N,).
        after: the mask it returned.
        ids: token ids, shape (N,).
        repeats: as given to ``propagate``.
        most: length of the list at most; n-grams that added nothing are left out.
    """
    added = np.append(0, np.cumsum(after & ~before))
    masked = np.append(0, np.cumsum(after))
    if repeats.start.size == 0:
        return []
    stop = repeats.start + repeats.width
    whole = masked[stop] - masked[repeats.start] == repeats.width
    fired = np.logical_or.reduceat(whole, repeats.offsets[:-1])
    tokens = np.where(fired, np.add.reduceat(added[stop] - added[repeats.start], repeats.offsets[:-1]), 0)
    first = repeats.start[repeats.offsets[:-1]]
    furthest = np.lexsort((first, -tokens))[:most]
    return [
        Spread(
            ids=tuple(ids[first[g] : first[g] + repeats.width].tolist()),
            first=int(first[g]),
            occurrences=int(repeats.offsets[g + 1] - repeats.offsets[g]),
            tokens_added=int(tokens[g]),
        )
        for g in furthest
        if tokens[g]
    ]
