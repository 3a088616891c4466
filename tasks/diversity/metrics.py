"""How diverse a set of records is (PV Tables 2, 8 and 9). Time is linear in the number of words and of records."""

import math
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np

from tasks.diversity.vendi import F64, Vectors, unit_rows
from tasks.diversity.words import count_words, words

MATTR_WINDOW = 100  # words
VENDI_ROWS = 20_000  # of a larger set, so many are drawn


@dataclass(frozen=True)
class Spread:
    """A count per record, summed up over a set; percentiles interpolate between records."""

    mean: float
    p50: float
    p95: float

    @classmethod
    def of(cls, counts: Sequence[int]) -> Self:
        """Sum up at least one count."""
        p50, p95 = np.percentile(counts, [50, 95])
        return cls(float(np.mean(counts)), float(p50), float(p95))


@dataclass(frozen=True)
class SetMetrics:
    """The metrics of a set of records; the first three are means over records, cosine and Vendi are of the set."""

    records: int
    mattr: float
    bigram_diversity: float
    entropy_bits: float
    cosine: float | None  # None for a single record, which has no pair
    vendi: float
    vendi_rows: int  # records that ``vendi`` was computed over: the score grows with it
    words: Spread
    attributes: Spread
    groups: Spread


def measure(
    texts: Sequence[str], unit_vectors: Vectors, *, attributes: Sequence[int], groups: Sequence[int], seed: int
) -> SetMetrics:
    """Measure a set of n records.

    Args:
        texts: the records' texts, of at least two words each.
        unit_vectors: their embeddings, norm 1, shape (n, d).
        attributes: the number of attributes of each.
        groups: the number of attribute groups of each.
        seed: draws the records for Vendi where there are more than ``VENDI_ROWS``.

    Raises:
        ValueError: no records, columns of different lengths, a text of fewer than two words, or a row of
            ``unit_vectors`` that is not a unit vector; the message names the row.
    """
    lengths = {len(texts), len(unit_vectors), len(attributes), len(groups)}
    if lengths == {0} or len(lengths) > 1:
        raise ValueError(
            f"{len(texts)} texts, {len(unit_vectors)} embeddings, {len(attributes)} attribute counts and {len(groups)}"
            " group counts: one of each is needed for every record, and at least one record"
        )
    rows = unit_rows(unit_vectors, what="embedding row")
    mattrs, bigrams, entropies = zip(*(_of_text(row, text) for row, text in enumerate(texts)), strict=True)
    vendi, vendi_rows = vendi_of_set(rows, seed=seed)
    return SetMetrics(
        records=len(texts),
        mattr=math.fsum(mattrs) / len(texts),
        bigram_diversity=math.fsum(bigrams) / len(texts),
        entropy_bits=math.fsum(entropies) / len(texts),
        cosine=mean_pairwise_cosine(rows) if len(rows) > 1 else None,
        vendi=vendi,
        vendi_rows=vendi_rows,
        words=Spread.of([count_words(text) for text in texts]),
        attributes=Spread.of(attributes),
        groups=Spread.of(groups),
    )


def _of_text(row: int, text: str) -> tuple[float, float, float]:
    """MATTR, bigram diversity and entropy of the lower-cased words of a text."""
    tokens = [word.lower() for word in words(text)]
    if len(tokens) < 2:
        raise ValueError(f"text row {row}: {len(tokens)} word(s), at least two are needed: leave the record out")
    return mattr(tokens), bigram_diversity(tokens), entropy_bits(tokens)


def mattr(tokens: Sequence[str], window: int = MATTR_WINDOW) -> float:
    """Moving-average type-token ratio: the mean, over all windows of ``window`` words, of distinct words / window.

    A text shorter than the window has its plain type-token ratio.

    Raises:
        ZeroDivisionError: there are no words.
    """
    if len(tokens) <= window:
        return len(set(tokens)) / len(tokens)
    inside = Counter(tokens[:window])
    distinct = len(inside)
    for leaving, entering in zip(tokens, tokens[window:], strict=False):
        inside[entering] += 1
        inside[leaving] -= 1
        if not inside[leaving]:
            del inside[leaving]
        distinct += len(inside)
    return distinct / (window * (len(tokens) - window + 1))


def bigram_diversity(tokens: Sequence[str]) -> float:
    """Distinct bigrams / bigrams.

    Raises:
        ZeroDivisionError: there are fewer than two words.
    """
    bigrams = list(pairwise(tokens))
    return len(set(bigrams)) / len(bigrams)


def entropy_bits(tokens: Sequence[str]) -> float:
    """Shannon entropy of the distribution of words, -sum p log2 p, in bits; 0 for no words."""
    n = len(tokens)
    return math.fsum(count / n * math.log2(n / count) for count in Counter(tokens).values())


def mean_pairwise_cosine(unit_vectors: Vectors) -> float:
    """Mean cosine of the n (n - 1) / 2 pairs of rows, in O(n d) by |sum x|² = n + 2 sum over pairs of x·y.

    Raises:
        ValueError: fewer than two rows, or a row that is not a unit vector.
    """
    rows = unit_rows(unit_vectors, what="embedding row")
    n = len(rows)
    if n < 2:
        raise ValueError(f"{n} vector(s) make no pair")
    total = rows.sum(axis=0)
    return float((total @ total - n) / (n * (n - 1)))


def vendi_of_set(unit_vectors: Vectors, *, seed: int, limit: int = VENDI_ROWS) -> tuple[float, int]:
    """Vendi score of a set, and the number of rows it is of: all, or ``limit`` of them drawn without replacement.

    Raises:
        ValueError: no rows, or a row that is not a unit vector.
    """
    rows = unit_rows(unit_vectors, what="embedding row")
    if not len(rows):
        raise ValueError("a set of no vectors has no Vendi score")
    if len(rows) > limit:
        rows = rows[np.random.default_rng(seed).choice(len(rows), size=limit, replace=False)]
    return _package_score(rows), len(rows)


def _package_score(rows: F64) -> float:
    from vendi_score import vendi  # here: it imports scikit-learn, seconds that a command's --help need not wait

    n, d = rows.shape
    if d < n:
        return float(vendi.score_dual(rows, normalize=False))
    with warnings.catch_warnings():
        # score_K asks for scipy.sparse.csr, a name that SciPy 1 has deprecated.
        warnings.simplefilter("ignore", DeprecationWarning)
        return float(vendi.score_K(rows @ rows.T))
