"""Sentence BLEU of a rewritten text against its source: how much of the wording is left (SM App. B.5)."""

import math
from collections import Counter
from collections.abc import Sequence

ORDERS = (1, 2, 3, 4)  # of equal weight
EPSILON = 0.1  # matches that an order without any is given, so that one missing order does not make the whole 0


def sentence_bleu(source: str, rewritten: str) -> float:
    """BLEU with the source as the only reference, words parted by white space.

        p_n  = matches of n-grams, each at most as often as the source has it / n-grams of the rewritten text
        BLEU = min(1, exp(1 - |source| / |rewritten|)) exp(1/4 sum over n of log p_n)

    An order without a match counts ``EPSILON`` matches (smoothing method 1 of Chen and Cherry, 2014), as long as a
    word matches at all. Orders longer than the rewritten text are left out of the mean, so that a sentence of three
    words that stayed as it was has 1; in texts of four words and more there is none.

    Returns:
        0 to 1; 0 where no word is left, and 1 where both are empty.
    """
    reference, words = source.split(), rewritten.split()
    if not reference and not words:
        return 1.0
    if not words:
        return 0.0
    precisions = [_precision(reference, words, order) for order in ORDERS if order <= len(words)]
    if precisions[0][0] == 0:
        return 0.0
    total = sum(math.log((matches or EPSILON) / ngrams) for matches, ngrams in precisions)
    brevity = min(1.0, math.exp(1 - len(reference) / len(words)))
    return brevity * math.exp(total / len(precisions))


def _precision(reference: Sequence[str], words: Sequence[str], order: int) -> tuple[int, int]:
    """Clipped matches, and n-grams of the rewritten text."""
    there, here = _ngrams(reference, order), _ngrams(words, order)
    return (here & there).total(), here.total()


def _ngrams(words: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(words[start : start + order]) for start in range(len(words) - order + 1))
