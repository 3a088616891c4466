"""Small ragged batches for the tests of this folder, and strategies that draw them."""

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from tasks.surprise.procedure import Batch
from tasks.surprise.rows import F64, I64, Bool, offsets_of
from tasks.surprise.spans import Spans
from tasks.surprise.tokens import Tokens

Rows = Sequence[Sequence[Any]]

# Sums of eighths are exact and tie often; a hole in the scores is rare but always possible.
NLL = st.sampled_from([*(k / 8 for k in range(12)), *(k / 8 for k in range(12)), math.nan, math.inf])


def flat(rows: Rows, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    return np.array([item for row in rows for item in row], dtype=dtype)


def floats(rows: Rows) -> F64:
    return flat(rows, np.float64)


def whole_numbers(rows: Rows) -> I64:
    return flat(rows, np.int64)


def booleans(rows: Rows) -> Bool:
    return flat(rows, np.bool_)


def offsets(rows: Rows) -> I64:
    return offsets_of([len(row) for row in rows])


def split(values: npt.NDArray[Any], row_offsets: I64) -> list[list[Any]]:
    return [values[a:b].tolist() for a, b in pairwise(row_offsets)]


def tokens_of(ids: Rows, spans: Sequence[Sequence[tuple[int, int]]] | None = None) -> Tokens:
    """Tokens with these spans, or of one character each."""
    given = [[(i, i + 1) for i in range(len(row))] for row in ids] if spans is None else spans
    return Tokens(whole_numbers(ids), Spans.of(given))


def batch_of(
    scores: Rows, ids: Rows | None = None, supervised: Rows | None = None, groups: Sequence[int] | None = None
) -> Batch:
    """A batch of one-character tokens; by default numbered from 0 in each record, all supervised, one group."""
    size = sum(map(len, scores))
    return Batch(
        tokens=tokens_of([range(len(row)) for row in scores] if ids is None else ids),
        scores=floats(scores),
        supervised=np.ones(size, dtype=np.bool_) if supervised is None else booleans(supervised),
        groups=np.zeros(len(scores), dtype=np.int64) if groups is None else np.array(groups, dtype=np.int64),
    )


@st.composite
def records(draw: st.DrawFn, longest: int = 12) -> list[list[float]]:
    """Scores of up to four records, empty ones among them."""
    return draw(st.lists(st.lists(NLL, max_size=longest), min_size=1, max_size=4))


@st.composite
def repetitive(draw: st.DrawFn, longest: int = 14) -> tuple[list[list[int]], list[list[bool]], list[int]]:
    """Ids of two or three kinds, supervision with holes, and groups (-1: none)."""
    kinds = draw(st.integers(1, 3))
    ids = draw(st.lists(st.lists(st.integers(0, kinds - 1), max_size=longest), min_size=1, max_size=4))
    often = st.sampled_from([True, True, True, False])
    supervised = [[draw(often) for _ in row] for row in ids]
    groups = [draw(st.sampled_from([0, 0, 7, -1])) for _ in ids]
    return ids, supervised, groups
