"""Small material for the tests of this folder: texts made of the tokens given."""

from collections.abc import Sequence

import numpy as np

from tasks.surprise.baselines.methods import Material, TokenLevels
from tasks.surprise.documents import Document, Interval, Label
from tasks.surprise.procedure import Batch
from tasks.surprise.rows import F64, Scores, offsets_of
from tasks.surprise.rules import GlobalRule, Rule
from tasks.surprise.spans import Spans
from tasks.surprise.tokens import Tokens

Rows = Sequence[Sequence[str]]


def tokens_of(rows: Rows, ids: Sequence[Sequence[int]] | None = None) -> Tokens:
    """Tokens that stand end to end in their text."""
    bounds = [offsets_of([len(token) for token in row]) for row in rows]
    spans = Spans.of([list(zip(at[:-1].tolist(), at[1:].tolist(), strict=True)) for at in bounds])
    numbers = [range(len(row)) for row in rows] if ids is None else ids
    return Tokens(np.array([number for row in numbers for number in row], dtype=np.int64), spans)


def material_of(
    rows: Rows,
    *,
    scores: Sequence[float] | None = None,
    labels: Sequence[Sequence[tuple[int, int]]] | None = None,
    supervised: Sequence[Sequence[tuple[int, int]]] | None = None,
    learner: Scores | None = None,
    names: Sequence[str] | None = None,
    ids: Sequence[Sequence[int]] | None = None,
) -> Material:
    """Material of texts given as their tokens, scored 0 and supervised everywhere by default."""
    tokens = tokens_of(rows, ids)
    documents = [
        Document(
            id=f"d{row}" if names is None else names[row],
            text="".join(words),
            labels=() if labels is None else tuple(Label(start, end) for start, end in labels[row]),
            supervised=None if supervised is None else tuple(Interval(start, end) for start, end in supervised[row]),
        )
        for row, words in enumerate(rows)
    ]
    trained = np.ones(tokens.size, dtype=np.bool_)
    if supervised is not None:
        kept = [[start >= a and end <= b for start, end in row for a, b in parts] for row, parts in
                zip(tokens.spans.pairs(), supervised, strict=True)]  # fmt: skip
        trained = np.array([flag for row in kept for flag in row])
    nll = np.zeros(tokens.size) if scores is None else np.array(scores, dtype=np.float64)
    return Material(documents, Batch(tokens, nll, trained), learner)


class Given:
    """A graded method with the levels it is given."""

    def __init__(self, levels: Sequence[float], rule: Rule | None = None) -> None:
        self.name = "given"
        self.rule = GlobalRule() if rule is None else rule
        self._levels: F64 = np.array(levels, dtype=np.float64)

    def levels(self, material: Material) -> TokenLevels:
        return TokenLevels(material.scored(self.name).tokens, self._levels, material.lengths)
