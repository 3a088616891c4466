"""Masks that no score decides: the labelled spans themselves, and chance at the same budget (SM App. C.3)."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tasks.surprise.baselines.methods import (
    CharacterLevels,
    Levels,
    Material,
    Method,
    TokenLevels,
    fixed_levels,
    is_masked,
)
from tasks.surprise.project import touched
from tasks.surprise.rows import I64, check_sizes, ranges

_LAST = (1 << 63) - 1


@dataclass(frozen=True)
class Oracle:
    """Mask the supervised tokens that share a character with a labelled span; without tokens, its characters."""

    name: str = "oracle"

    @property
    def rule(self) -> None:
        """None: nothing to sweep."""
        return None

    def levels(self, material: Material) -> Levels:
        """Mark the targets."""
        batch = material.batch
        if batch is None:
            return CharacterLevels.of_spans(material.targets, material)
        masked = touched(batch.tokens, material.targets) & batch.supervised
        return TokenLevels(batch.tokens, fixed_levels(masked), material.lengths)


@dataclass(frozen=True)
class Random:
    """Mask the supervised tokens that draw no more than ``last``.

    A draw is a hash of the seed, the document's id and the token's place in it, so the mask does not depend on the
    order of documents or on how they are sharded. ``matched`` finds the ``last`` of a budget.
    """

    seed: int
    last: int  # the greatest draw that is masked, up to 2^63 - 1; -1 masks nothing
    name: str = "random"

    @classmethod
    def matched(cls, seed: int, budget: int, corpus: Iterable[Material]) -> Self:
        """Set the cut so that exactly ``budget`` supervised tokens of a corpus are masked.

        Args:
            seed: of the draws.
            budget: tokens to mask, such as the ``masked_tokens`` of another method.
            corpus: all of its shards.

        Raises:
            ValueError: there are fewer supervised tokens, or two draws are equal right at the cut (once in 10^11
                corpora of 30 million tokens): another seed is needed.
        """
        return cls.cut(seed, budget, [supervised_draws(seed, part) for part in corpus])

    @classmethod
    def cut(cls, seed: int, budget: int, draws_of_parts: Iterable[I64]) -> Self:
        """Do as ``matched``, with the ``supervised_draws`` of all parts of a corpus."""
        drawn = np.concatenate([np.empty(0, dtype=np.int64), *draws_of_parts])
        if not 0 <= budget <= drawn.size:
            raise ValueError(f"a budget of {budget} tokens: there are {drawn.size} supervised ones")
        if budget == 0:
            return cls(seed, -1)
        if budget == drawn.size:
            return cls(seed, _LAST)
        last, following = np.partition(drawn, [budget - 1, budget])[budget - 1 : budget + 1]
        if last == following:
            raise ValueError(
                f"seed {seed}: two tokens draw alike at the cut (is an id given twice?): take another seed"
            )
        return cls(seed, int(last))

    @property
    def rule(self) -> None:
        """None: the cut is set."""
        return None

    def levels(self, material: Material) -> TokenLevels:
        """Mark the tokens that draw low."""
        batch = material.scored(self.name)
        ids = [document.id for document in material.documents]
        masked = (draws(self.seed, ids, batch.tokens.row_offsets) <= self.last) & batch.supervised
        return TokenLevels(batch.tokens, fixed_levels(masked), material.lengths)


def masked_tokens(method: Method, corpus: Iterable[Material]) -> int:
    """Count the supervised tokens of a corpus that a fixed method masks: the budget that a random mask is matched to.

    Raises:
        ValueError: the method is graded.
    """
    if method.rule is not None:
        raise ValueError(f"{method.name} has no budget before its threshold is set: pass AtThreshold(...)")
    return sum(_masked_tokens(method, material) for material in corpus)


def _masked_tokens(method: Method, material: Material) -> int:
    batch = material.scored(f"the budget of {method.name}")
    return int(np.count_nonzero(is_masked(method.levels(material).on_tokens(batch.tokens)) & batch.supervised))


def draws(seed: int, ids: Sequence[str], row_offsets: I64) -> I64:
    """Draw a number from 0 to 2^63 - 1 for each token, from the seed, its document's id and its place alone.

    BLAKE2 gives each document a 64-bit start, from which SplitMix64 gives the token at place j its j-th number.

    Args:
        seed: any whole number.
        ids: of the R documents.
        row_offsets: tokens of each document, shape (R + 1,).
    """
    check_sizes("rows of tokens", row_offsets.size - 1, {"document ids": len(ids)})
    digests = [hashlib.blake2b(f"{seed}:{name}".encode(), digest_size=8).digest() for name in ids]
    starts = np.frombuffer(b"".join(digests), dtype="<u8")
    counts = np.diff(row_offsets)
    place = ranges(np.ones(counts.size, dtype=np.int64), counts).astype(np.uint64)
    mixed = np.repeat(starts, counts) + place * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return np.asarray(mixed >> np.uint64(1), dtype=np.int64)


def supervised_draws(seed: int, material: Material) -> I64:
    """Return the draws of the supervised tokens of a part of a corpus."""
    batch = material.scored("a random mask")
    drawn = draws(seed, [document.id for document in material.documents], batch.tokens.row_offsets)
    return np.asarray(drawn[batch.supervised])
