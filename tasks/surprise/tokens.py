"""Token rows: the reference model's ids with the characters that each token stands for."""

from dataclasses import dataclass
from typing import Self

from tasks.surprise.offsets import cover
from tasks.surprise.rows import I64, check_sizes
from tasks.surprise.spans import Spans


@dataclass(frozen=True, eq=False)
class Tokens:
    """The tokens of R texts, flat (see ``rows``), in reading order.

    A row holds the tokens of its text alone: a BOS token or a prompt put before it has no score and would make the
    first window invalid.
    """

    ids: I64  # (N,)
    spans: Spans  # (N,) characters of each token, as ``offsets.cover`` leaves them

    def __post_init__(self) -> None:
        check_sizes("token spans", self.spans.start.size, {"token ids": self.ids.size})

    @classmethod
    def from_offsets(cls, ids: I64, start: I64, end: I64, row_offsets: I64, covered: I64) -> Self:
        """Hold tokens with the offsets that a tokenizer reported, repaired by ``offsets.cover`` (arguments there)."""
        return cls(ids, cover(start, end, row_offsets, covered))

    @property
    def row_offsets(self) -> I64:
        """Tokens of each text, shape (R + 1,)."""
        return self.spans.row_offsets

    @property
    def size(self) -> int:
        """N, the number of tokens."""
        return self.ids.size
