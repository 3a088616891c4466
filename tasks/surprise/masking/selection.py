"""What a policy selects in scored documents: spans of characters, and how far they spread."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.surprise.evaluation.material import with_features
from tasks.surprise.policy import Policy
from tasks.surprise.procedure import Batch
from tasks.surprise.project import characters
from tasks.surprise.propagate import most_spread
from tasks.surprise.rows import I64, Bool
from tasks.surprise.scored import ScoredSet
from tasks.surprise.spans import Spans

MOST_SPREAD = 20


@dataclass(frozen=True, slots=True)
class SpreadText:
    """An n-gram that propagation ran along, as text: for a person to look at, on this machine."""

    text: str
    occurrences: int
    tokens_added: int


@dataclass(frozen=True, eq=False)
class Selection:
    """What is masked of R documents.

    Attributes:
        spans: characters of each document, disjoint and in order.
        tokens: of each document, shape (R,).
        supervised: of them, those that may be masked, shape (R,).
        masked: of those, the masked ones, shape (R,).
        unscored: supervised tokens without a finite score, which no window can select, shape (R,).
        spread: n-grams that propagation spread furthest; none where the policy does not propagate.
    """

    spans: Spans
    tokens: I64
    supervised: I64
    masked: I64
    unscored: I64
    spread: tuple[SpreadText, ...]


def select(scored: ScoredSet, policy: Policy) -> Selection:
    """Apply a frozen policy; groups must be whole in ``scored`` (``store.steps.read_pieces``).

    Raises:
        PolicyMismatch: the scores are of another model or tokenizer.
        ScoresUnfit: or under other prompts.
        ValueError: the documents lack the groups or regions that the procedure needs.
    """
    policy.check(scored.reference)
    batch = with_features(scored, policy.procedure, policy.conditioning)
    mask = policy.mask(batch)
    offsets = batch.tokens.row_offsets
    return Selection(
        spans=characters(batch.tokens, mask),
        tokens=np.diff(offsets),
        supervised=_by_row(batch.supervised, offsets),
        masked=_by_row(mask, offsets),
        unscored=_by_row(batch.supervised & ~np.isfinite(batch.scores), offsets),
        spread=tuple(_spread(scored.texts, batch, policy, mask)),
    )


def _by_row(flags: Bool, row_offsets: I64) -> I64:
    return np.diff(np.append(0, np.cumsum(flags))[row_offsets])


def _spread(texts: Sequence[str], batch: Batch, policy: Policy, mask: Bool) -> list[SpreadText]:
    repeats = policy.procedure.repeats(batch)
    if repeats is None:
        return []
    before = policy.procedure.model_copy(update={"propagation": None}).mask(batch, policy.threshold)
    tokens = batch.tokens
    found = []
    for each in most_spread(before, mask, tokens.ids, repeats, MOST_SPREAD):
        row = int(np.searchsorted(tokens.row_offsets, each.first, side="right")) - 1
        start, end = tokens.spans.start[each.first], tokens.spans.end[each.first + repeats.width - 1]
        found.append(SpreadText(texts[row][start:end], each.occurrences, each.tokens_added))
    return found
