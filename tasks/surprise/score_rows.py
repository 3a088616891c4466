"""What scoring a row of the input ends in: a scored document, or a reject. Rows of ``tasks.records``."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from tasks.records import SCORE_REJECTS, SCORES
from tasks.surprise.documents import Document, Interval
from tasks.surprise.policy import Reference
from tasks.surprise.reading.input import Reject
from tasks.surprise.scoring.scorer import Scored


@dataclass(frozen=True, eq=False, slots=True)
class ScoredDocument:
    """A document with its scores."""

    document: Document
    scored: Scored


Outcome = ScoredDocument | Reject


def tables(outcomes: Iterable[Outcome], first: int, reference: Reference) -> dict[str, pa.Table]:
    """Sort the outcomes of consecutive rows, the first of which is number ``first``, into the tables of a shard."""
    scores, rejects = [], []
    for index, outcome in enumerate(outcomes, first):
        match outcome:
            case ScoredDocument():
                scores.append(_score(outcome, index, reference))
            case Reject():
                rejects.append(_reject(outcome, index))
    return {
        "scores": pa.Table.from_pylist(scores, SCORES),
        "score_rejects": pa.Table.from_pylist(rejects, SCORE_REJECTS),
    }


def _score(outcome: ScoredDocument, index: int, reference: Reference) -> dict[str, Any]:
    document, scored = outcome.document, outcome.scored
    return {
        "document_id": document.id,
        "index": index,
        "group": document.group,
        "text": document.text,
        "supervised": None if document.supervised is None else _bounds(document.supervised),
        "labels": [{"start": each.start, "end": each.end, "category": each.category} for each in document.labels],
        "labelled": document.labelled,
        "regions": [{"start": each.start, "end": each.end, "name": each.name} for each in document.regions],
        "strata": [{"name": name, "value": value} for name, value in document.strata.items()],
        "covered": scored.covered,
        "token_ids": scored.ids,
        "token_starts": scored.starts,
        "token_ends": scored.ends,
        "nll": [{"name": name, "values": values} for name, values in scored.nll.items()],
        "model": reference.model,
        "tokenizer_sha256": reference.tokenizer_sha256,
    }


def _bounds(intervals: Sequence[Interval]) -> list[dict[str, int]]:
    return [{"start": each.start, "end": each.end} for each in intervals]


def _reject(reject: Reject, index: int) -> dict[str, Any]:
    return {
        "document_id": reject.document_id,
        "index": index,
        "place": reject.place,
        "reason": reject.reason,
        "detail": reject.detail,
    }


@dataclass(frozen=True, slots=True)
class NllSum:
    """Sum of the NLLs of ``tokens`` tokens that have one, in nats."""

    tokens: int = 0
    nats: float = 0.0

    def __add__(self, other: "NllSum") -> "NllSum":
        """Sum both."""
        return NllSum(self.tokens + other.tokens, self.nats + other.nats)

    @property
    def mean(self) -> float | None:
        """Mean NLL of a token; None where none has one."""
        return self.nats / self.tokens if self.tokens else None


def nll_sums(outcomes: Iterable[Outcome]) -> Mapping[str, NllSum]:
    """Sum up the NLLs by pass."""
    sums: dict[str, NllSum] = {}
    for outcome in outcomes:
        if isinstance(outcome, ScoredDocument):
            for name, values in outcome.scored.nll.items():
                finite = values[np.isfinite(values)]
                sums[name] = sums.get(name, NllSum()) + NllSum(finite.size, float(finite.sum(dtype=np.float64)))
    return sums
