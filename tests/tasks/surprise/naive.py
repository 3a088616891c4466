"""Surprise Masking word for word as defined, one record after another: what the array code must equal.

Nothing here is shared with the code under test; records are lists.
"""

import math
from collections.abc import Callable, Sequence

Window = tuple[int, int]  # first token, one past the last, within the record


def fixed(length: int, n: int) -> list[Window]:
    return [(i, i + n) for i in range(length) if i + n <= length]


def mean(scores: Sequence[float], window: Window) -> float:
    held = scores[window[0] : window[1]]
    return math.fsum(held) / len(held) if all(map(math.isfinite, held)) else math.nan


def top(scores: Sequence[float], window: Window, count: int) -> float:
    held = scores[window[0] : window[1]]
    if not all(map(math.isfinite, held)):
        return math.nan
    largest = sorted(held, reverse=True)[:count]
    return math.fsum(largest) / len(largest)


def rank(scores: Sequence[float], i: int, neighbours: int) -> float:
    around = [scores[j] for j in range(max(0, i - neighbours), min(len(scores), i + neighbours + 1)) if j != i]
    valid = [score for score in around if not math.isnan(score)]
    if math.isnan(scores[i]) or not valid:
        return math.nan
    return 100 / len(valid) * sum(-scores[i] >= -other for other in valid)


def masked(length: int, windows: Sequence[Window], selected: Sequence[bool], votes: int) -> list[bool]:
    return [
        sum(chosen and first <= j < stop for (first, stop), chosen in zip(windows, selected, strict=True)) >= votes
        for j in range(length)
    ]


def propagated(
    masks: Sequence[Sequence[bool]],
    ids: Sequence[Sequence[int]],
    groups: Sequence[int],
    supervised: Sequence[Sequence[bool]],
    n: int,
    *,
    strict: bool = False,
) -> list[list[bool]]:
    """Look for a whole n-gram and an occurrence that is not masked, mask it, start again."""
    result = [list(row) for row in masks]
    places = [
        (groups[r], tuple(ids[r][i : i + n]), r, i)
        for r in range(len(ids))
        if groups[r] >= 0
        for i in range(len(ids[r]) - n + 1)
    ]
    changed = True
    while changed:
        whole = {(group, ngram) for group, ngram, r, i in places if all(result[r][i : i + n])}
        changed = False
        for group, ngram, r, i in places:
            if (group, ngram) not in whole or (strict and not all(supervised[r][i : i + n])):
                continue
            for j in range(i, i + n):
                if supervised[r][j] and not result[r][j]:
                    result[r][j] = changed = True
    return result


def auroc(levels: Sequence[float], target: Sequence[bool]) -> float:
    targets = [level for level, positive in zip(levels, target, strict=True) if positive]
    others = [level for level, positive in zip(levels, target, strict=True) if not positive]
    wins = sum((a > b) + (a == b) / 2 for a in targets for b in others)
    return wins / (len(targets) * len(others))


def best(
    thresholds: Sequence[float],
    masked_at: Callable[[float], Sequence[bool]],
    target: Sequence[bool],
    better: Callable[[float, float], float | None],
) -> tuple[float, float] | None:
    """Try every threshold; ``better`` values one by (tpr, fpr) or refuses it; ties go to the least masking."""
    chosen = None
    for threshold in thresholds:
        mask = masked_at(threshold)
        hits = sum(m and t for m, t in zip(mask, target, strict=True))
        collateral = sum(m and not t for m, t in zip(mask, target, strict=True))
        value = better(hits / sum(target), collateral / (len(target) - sum(target)))
        if value is not None and hits + collateral and (chosen is None or (value, -hits - collateral) > chosen[0]):
            chosen = ((value, -hits - collateral), threshold)
    return None if chosen is None else (chosen[0][0], chosen[1])
