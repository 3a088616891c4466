"""Which sentences go to a rewriter first: a rank over the whole corpus, so that a budget is a number of them."""

import hashlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from tasks.surprise.baselines.methods import Material, Method
from tasks.surprise.procedure import TopScore
from tasks.surprise.rows import F64, I64, Bool, offsets_of, ranges, row_numbers
from tasks.surprise.scores import top_scores
from tasks.surprise.segments import sentences, tile
from tasks.surprise.spans import Spans
from tasks.surprise.windows import PieceWindows, Windows, tiled_windows

TOP = TopScore().count  # three largest token scores of a sentence (SM D.5)


@dataclass(frozen=True, eq=False)
class Ranked:
    """The sentences of R documents, which tile their texts.

    Attributes:
        spans: S sentences.
        scores: of each; -inf for one that is never sent.
    """

    spans: Spans
    scores: F64

    @classmethod
    def joined(cls, parts: Iterable["Ranked"]) -> Self:
        """Lay the sentences of several shards end to end."""
        held = list(parts)
        starts, ends, scores = (
            np.concatenate([empty, *arrays])
            for empty, arrays in (
                (np.empty(0, dtype=np.int64), [part.spans.start for part in held]),
                (np.empty(0, dtype=np.int64), [part.spans.end for part in held]),
                (np.empty(0), [part.scores for part in held]),
            )
        )
        counts = np.concatenate([np.empty(0, dtype=np.int64), *(np.diff(part.spans.row_offsets) for part in held)])
        return cls(Spans(starts, ends, offsets_of(counts)), scores)


def least(corpus: Iterable[Material]) -> float:
    """Return the lowest score of a token that may be masked; inf where none has a score."""
    lowest = math.inf
    for material in corpus:
        batch = material.scored("ranking sentences")
        scored = batch.supervised & np.isfinite(batch.scores)
        lowest = min(lowest, float(batch.scores[scored].min(initial=np.inf)))
    return lowest


def by_scores(material: Material, floor: float) -> Ranked:
    """Score sentences by the mean of their three largest token scores: surprise, prompted surprise or contrast.

    A token without a score, such as the first, counts as the least surprising of all: it does not hide its sentence.

    Args:
        material: of a shard.
        floor: ``least`` of the whole corpus.
    """
    batch = material.scored("ranking sentences")
    pieces, made = _cut(material)
    scored = batch.supervised & np.isfinite(batch.scores)
    values = np.where(scored, batch.scores.astype(np.float64), floor)
    scores = np.full(made.windows.size, -np.inf)
    some = _any(scored, made.windows)
    if some.any():
        scores[some] = top_scores(values, made.windows, TOP)[some]
    return Ranked(pieces, _of_pieces(scores, made))


def by_method(method: Method, material: Material) -> Ranked:
    """Score sentences by the highest level that a method gives one of their tokens."""
    batch = material.scored("ranking sentences")
    pieces, made = _cut(material)
    levels = np.where(batch.supervised, method.levels(material).on_tokens(batch.tokens), -np.inf)
    laid_out, starts = _laid_out(levels, made.windows)
    scores = np.maximum.reduceat(laid_out, starts) if starts.size else np.empty(0)
    return Ranked(pieces, _of_pieces(scores, made))


def at_random(material: Material, seed: int) -> Ranked:
    """Score sentences by a hash of the seed, the document's id and their place in it."""
    pieces, _ = _cut(material)
    rows = row_numbers(pieces.row_offsets)
    place = np.arange(rows.size) - pieces.row_offsets[:-1][rows]
    drawn = [
        _draw(f"{seed}:{material.documents[row].id}:{at}")
        for row, at in zip(rows.tolist(), place.tolist(), strict=True)
    ]
    return Ranked(pieces, np.array(drawn, dtype=np.float64))


def ranks_of(scores: F64) -> I64:
    """Rank from 1, the highest score first and of equals the earlier; 0 for what is never sent, shape (S,)."""
    order = np.argsort(-scores, kind="stable")
    ranks = np.empty(scores.size, dtype=np.int64)
    ranks[order] = np.arange(1, scores.size + 1)
    return np.where(scores > -np.inf, ranks, 0)


def sent(budget: float, count: int) -> int:
    """How many of ``count`` sentences a budget sends: at least that share of them."""
    return math.ceil(budget * count - 1e-9)  # a tenth of twenty is two, whatever floats say


def _cut(material: Material) -> tuple[Spans, PieceWindows]:
    pieces = tile(material.texts, sentences)
    return pieces, tiled_windows(material.scored("ranking sentences").tokens, pieces)


def _any(flags: Bool, windows: Windows) -> Bool:
    laid_out, starts = _laid_out(flags.astype(np.float64), windows)
    return np.maximum.reduceat(laid_out, starts) > 0 if starts.size else np.empty(0, dtype=np.bool_)


def _laid_out(values: F64, windows: Windows) -> tuple[F64, I64]:
    """The values of each window's tokens end to end, and where each window begins there."""
    widths = windows.stop - windows.first
    return values[ranges(windows.first, widths)], offsets_of(widths)[:-1]


def _of_pieces(scores: F64, made: PieceWindows) -> F64:
    of_pieces = np.full(made.window_of.size, -np.inf)
    held = made.window_of >= 0
    of_pieces[held] = scores[made.window_of[held]]
    return of_pieces


def _draw(name: str) -> int:
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=6).digest(), "big")
