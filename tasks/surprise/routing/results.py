"""What each intervention gives and costs: the rows of a table such as SM Tables 16 and 17."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import polars as pl
import pyarrow as pa

from tasks.surprise.routing.chain import UNMODIFIED, WHOLE
from tasks.surprise.routing.cost import usd_per_million


@dataclass(frozen=True, slots=True)
class Outcome:
    """One intervention over the whole corpus.

    Attributes:
        name: see ``tasks.records.ROUTED``.
        documents: how many.
        sent: sentences, or documents, that went to the model.
        failed: of them, those that were redacted for want of a usable reply.
        security: share of the private values that are gone; None where nothing is labelled.
        bleu: mean over documents.
        facts_kept: share of the judge's facts that are left; None without a judge.
        usd_per_million: source tokens; judges are not in it.
    """

    name: str
    documents: int
    sent: int
    failed: int
    security: float | None
    bleu: float
    facts_kept: float | None
    usd_per_million: float

    def json(self) -> dict[str, Any]:
        """All figures for a program, unrounded."""
        return asdict(self)


def outcomes(routed: pa.Table, selector_usd_per_million: float) -> list[Outcome]:
    """Sum up rows of ``tasks.records.ROUTED`` by intervention, in the order of the work.

    Args:
        routed: rows of whole documents.
        selector_usd_per_million: what ranking a million source tokens costs; no part of the whole-document rewriting.

    Raises:
        ValueError: documents without a single token.
    """
    frame = pl.from_arrow(routed)
    assert isinstance(frame, pl.DataFrame)
    groups = frame.group_by("intervention", maintain_order=True).agg(
        pl.len().alias("documents"),
        pl.col("sent", "failed", "private_values", "values_gone", "facts", "facts_kept", "source_tokens").sum(),
        pl.col("cost_usd").sum(),
        pl.col("bleu").mean(),
    )
    return [_outcome(row, selector_usd_per_million) for row in groups.to_dicts()]


def _outcome(row: Mapping[str, Any], selector_usd_per_million: float) -> Outcome:
    selects = row["intervention"] not in (UNMODIFIED, WHOLE)
    tokens = row["source_tokens"]
    selector = selector_usd_per_million * tokens / 1e6 if selects else 0.0
    return Outcome(
        row["intervention"],
        row["documents"],
        row["sent"],
        row["failed"],
        _share(row["values_gone"], row["private_values"]),
        row["bleu"],
        _share(row["facts_kept"], row["facts"]),
        usd_per_million(row["cost_usd"], selector, tokens),
    )


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
