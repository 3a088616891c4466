"""Readings of like length in batches of a token budget."""

from collections.abc import Sequence


def buckets(lengths: Sequence[int], budget: int, *, padded: bool) -> list[list[int]]:
    """Put readings into batches, the longest first: if one is too much for the memory, it is the first to say so.

    Args:
        lengths: tokens of each reading.
        budget: tokens of a batch; a longer reading is a batch of its own.
        padded: rows are padded to the longest of their batch, and padding counts.

    Returns:
        Batches of places in ``lengths``; every place once.
    """
    batches: list[list[int]] = []
    tokens = 0
    for place in sorted(range(len(lengths)), key=lambda i: -lengths[i]):
        cost = lengths[batches[-1][0]] if padded and batches and batches[-1] else lengths[place]
        if not batches or tokens + cost > budget:
            batches.append([])
            tokens, cost = 0, lengths[place]
        batches[-1].append(place)
        tokens += cost
    return batches
