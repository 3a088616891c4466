"""Goldfish loss (Hans et al., 2024): drop a fixed, pseudo-random 1/k of the tokens, the same wherever a passage recurs.

Two ways to decide, which do not agree token by token: that of the published code, over token ids, and that of SM
App. C.3, over normalised text.
"""

import functools
import hashlib
import unicodedata
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

from tasks.surprise.baselines.methods import Material, TokenLevels, fixed_levels
from tasks.surprise.rows import I64, Bool, check_sizes, ranges
from tasks.surprise.tokens import Tokens

TABLE_SIZE = 1_000_003
TABLE_SEED = 2971215073
_SOFT_HYPHEN = "\N{SOFT HYPHEN}"


@dataclass(frozen=True)
class GoldfishReference:
    """The published code's rule, over the batch's token ids."""

    k: int
    h: Literal[4, 13] = 13
    name: str = "Goldfish (reference)"

    def __post_init__(self) -> None:
        _check_k(self.k)

    @property
    def rule(self) -> None:
        """None: nothing to sweep."""
        return None

    def levels(self, material: Material) -> TokenLevels:
        """Mark the dropped tokens."""
        batch = material.scored(self.name)
        masked = dropped_ids(batch.tokens.ids, batch.tokens.row_offsets, self.k, self.h) & batch.supervised
        return TokenLevels(batch.tokens, fixed_levels(masked), material.lengths)


@dataclass(frozen=True)
class GoldfishPaper:
    """The rule of SM App. C.3, over the text before each token.

    The paper does not say how far back the context reaches. A limit in characters of the normalised text, and not in
    tokens, is what makes a passage with soft hyphens, other spaces or composed letters decide like one without.
    """

    k: int
    context: int = 52  # characters; about the 13 tokens of the published code
    name: str = "Goldfish"

    def __post_init__(self) -> None:
        _check_k(self.k)
        if self.context < 1:
            raise ValueError(f"a context of {self.context} characters: at least 1 is needed")

    @property
    def rule(self) -> None:
        """None: nothing to sweep."""
        return None

    def levels(self, material: Material) -> TokenLevels:
        """Mark the dropped tokens."""
        batch = material.scored(self.name)
        masked = dropped_contexts(batch.tokens, material.texts, self.k, self.context) & batch.supervised
        return TokenLevels(batch.tokens, fixed_levels(masked), material.lengths)


@functools.cache
def hash_table() -> npt.NDArray[np.float32]:
    """Draw the published code's uniform numbers, shape (1,000,003,); on the CPU, since devices draw differently.

    Raises:
        ImportError: torch, of the extra `surprise`, is not installed: no other generator gives these numbers.
    """
    import torch

    table = torch.rand(TABLE_SIZE, generator=torch.Generator("cpu").manual_seed(TABLE_SEED)).numpy()
    table.flags.writeable = False
    return table


def dropped_ids(ids: I64, row_offsets: I64, k: int, h: int) -> Bool:
    """Mark the tokens that the published code drops.

        drop j  iff  table[(x_{j-h+1} * ... * x_j) mod 1,000,003] < 1/k

    The product is of the last h ids, the predicted one among them, in wrapping 64-bit arithmetic. The first h - 1
    tokens of a row are kept. The bound is compared in float32, as there.

    Args:
        ids: shape (N,).
        row_offsets: shape (R + 1,).
        k: at least 2.
        h: at least 1.
    """
    product = ids.astype(np.int64)
    for back in range(1, h):
        product[back:] *= ids[: max(ids.size - back, 0)]
    place = ranges(np.zeros(row_offsets.size - 1, dtype=np.int64), np.diff(row_offsets))
    drawn = hash_table()[product % TABLE_SIZE]
    return np.asarray((drawn < np.float32(1 / k)) & (place >= h - 1))


def dropped_contexts(tokens: Tokens, texts: list[str], k: int, context: int) -> Bool:
    """Mark the tokens whose preceding text hashes into the lowest 1/k; the first k tokens of a row are kept.

    The text is normalised (``normalise``) and cut to its last ``context`` characters; then its 64-bit BLAKE2 hash is
    compared with 2^64 / k. Byte tokens of one character have one context and one decision.

    Args:
        tokens: of R texts, with offsets in them.
        texts: shape (R,).
        k: at least 2.
        context: characters of normalised text.
    """
    check_sizes("rows of tokens", tokens.spans.rows, {"texts": len(texts)})
    bound = -(-(1 << 64) // k)
    masked = np.zeros(tokens.size, dtype=np.bool_)
    start = tokens.spans.start.tolist()
    for row, text in enumerate(texts):
        for token in range(int(tokens.row_offsets[row]) + k, int(tokens.row_offsets[row + 1])):
            before = _last_characters(text, start[token], context).encode("utf-8", "surrogatepass")
            masked[token] = int.from_bytes(hashlib.blake2b(before, digest_size=8).digest(), "big") < bound
    return masked


def normalise(text: str) -> str:
    """Take soft hyphens out, apply NFKC, and make each run of white space one space, with none at the ends."""
    return " ".join(unicodedata.normalize("NFKC", text.replace(_SOFT_HYPHEN, "")).split())


def _last_characters(text: str, end: int, count: int) -> str:
    """Normalise what stands before ``end``, as far back as ``count`` characters of the result need.

    Twice as many are read as asked for, and twice again until the result is long enough, so that what is read stops
    well before its own cut can be seen in the last ``count``.
    """
    reach = 2 * count
    while True:
        begin = max(end - reach, 0)
        normalised = normalise(text[begin:end])
        if begin == 0 or len(normalised) >= count + count // 2:
            return normalised[-count:]
        reach *= 2


def _check_k(k: int) -> None:
    if k < 2:
        raise ValueError(f"k = {k}: one token in k is dropped, so k is at least 2")
