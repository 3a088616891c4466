"""From the tables of a record set to its figures (PV section 2.2, appendix A.1).

Shards are read one after the other and forgotten: what stays of a record is a narrow row of figures
(``tasks.report.measure``), and of a seeded sample the embeddings.
"""

from collections.abc import Iterable, Mapping
from itertools import chain
from typing import Any

import polars as pl
import pyarrow as pa

from tasks.diversity.metrics import Spread, mean_pairwise_cosine, vendi_of_set
from tasks.records import RECORDS, REJECTS
from tasks.report.figures import (
    Counted,
    Diversity,
    Drop,
    Profiles,
    RefinementStep,
    Repetition,
    Spending,
    Summary,
    share,
)
from tasks.report.measure import F32, MeasuredShard, measure, measure_rejects
from tasks.report.sample import VectorSample, lots, near_share

VECTORS = 2_000  # behind a mean cosine and the search for near copies, which looks at every pair
VENDI_VECTORS = 500  # as many records as PV Table 9 has: a Vendi score grows with their number
NEAR_COSINE = 0.95
US_CITIZEN = "American"  # profiles state a citizenship by its demonym

_SPENT = ("calls", "prompt", "cached", "completion", "reasoning", "cost_usd")


def summarize(records: Iterable[pa.Table], rejects: Iterable[pa.Table], *, seed: int = 0) -> Summary:
    """Read a record set once and return its figures.

    Args:
        records: its shards, tables of ``tasks.records.RECORDS``; may be a generator.
        rejects: the same of ``tasks.records.REJECTS``.
        seed: of the draw of records whose embeddings are compared.

    Raises:
        ValueError: an embedding is not a unit vector; the message names its shard and row.
    """
    rows, group_sizes, refinement, samples = [], [], [], _Samples(seed)
    # An empty table comes first: it gives the columns their types where there is no shard.
    for shard in map(measure, chain([RECORDS.empty_table()], records)):
        samples.offer(shard)
        rows.append(shard.rows)
        group_sizes.append(shard.group_sizes)
        refinement.append(shard.refinement)
    dropped = [measure_rejects(shard) for shard in chain([REJECTS.empty_table()], rejects)]
    return _summary(pl.concat(rows), pl.concat(group_sizes), pl.concat(refinement), pl.concat(dropped), samples)


class _Samples:
    """Embeddings drawn of the whole set, of each domain and of each model."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.whole = VectorSample(VECTORS)
        self.domain: dict[str, VectorSample] = {}
        self.model: dict[str, VectorSample] = {}

    def offer(self, shard: MeasuredShard) -> None:
        """Draw from one more shard."""
        names = shard.rows.select("domain", "model").iter_rows()
        drawn = lots(self.seed, shard.rows["record_id"])
        for lot, (domain, model), vector in zip(drawn, names, shard.vectors, strict=True):
            self.whole.offer(lot, vector)
            self.domain.setdefault(domain, VectorSample(VECTORS)).offer(lot, vector)
            self.model.setdefault(model, VectorSample(VECTORS)).offer(lot, vector)


def _summary(
    rows: pl.DataFrame, group_sizes: pl.Series, refinement: pl.DataFrame, dropped: pl.DataFrame, samples: _Samples
) -> Summary:
    whole = samples.whole.vectors()
    return Summary(
        records=len(rows),
        rejects=len(dropped),
        seeds=tuple(sorted({*rows["seed"], *dropped["seed"]})),
        languages=_by_value(rows, "language"),
        domains=_by_value(rows, "domain"),
        subcategories={(domain, name): n for domain, name, n in _counts(rows, "domain", "subcategory")},
        whole=_diversity(rows, whole, samples.seed),
        by_domain=_diversity_by("domain", rows, samples.domain, samples.seed),
        by_model=_diversity_by("model", rows, samples.model, samples.seed),
        words=_counted(rows["words"]),
        attributes=_counted(rows["attributes"]),
        groups=_counted(rows["groups"]),
        group_size=_counted(group_sizes),
        grounded_share=share(float(rows["grounded"].sum()), float(rows["attributes"].sum())),
        context_words=_mean(rows["context_words"]),
        format_words=_mean(rows["format_words"]),
        record_type_words=_mean(rows["record_type_words"]),
        refinement=_refinement(refinement),
        drops=tuple(Drop(*row) for row in _counts(dropped, "outcome", "step", "reason")),
        spending=_spending(rows, dropped),
        repetition=_repetition(rows["text_hash"], whole),
        profiles=_profiles(rows),
    )


def _counts(frame: pl.DataFrame, *names: str) -> list[tuple[Any, ...]]:
    """Return (values..., rows), the most frequent first, then by value; rows with a null are left out."""
    counted = frame.drop_nulls(names).group_by(names).len("rows")
    return counted.sort("rows", *names, descending=[True, *(False for _ in names)]).select(*names, "rows").rows()


def _by_value(frame: pl.DataFrame, name: str) -> Mapping[Any, int]:
    return dict(_counts(frame, name))


def _mean(values: pl.Series) -> float | None:
    return share(float(values.sum()), values.count())


def _counted(values: pl.Series) -> Counted:
    counts = pl.DataFrame({"count": values}).group_by("count").len().sort("count")
    return Counted(Spread.of(values.to_list()) if len(values) else None, dict(counts.rows()))


def _diversity_by(
    name: str, rows: pl.DataFrame, samples: Mapping[str, VectorSample], seed: int
) -> dict[str, Diversity]:
    return {
        value: _diversity(rows.filter(pl.col(name) == value), samples[value].vectors(), seed)
        for value in _by_value(rows, name)
    }


def _diversity(rows: pl.DataFrame, vectors: F32, seed: int) -> Diversity:
    vendi, vendi_vectors = vendi_of_set(vectors, seed=seed, limit=VENDI_VECTORS) if len(vectors) else (None, 0)
    return Diversity(
        records=len(rows),
        mattr=_mean(rows["mattr"]),
        bigram_diversity=_mean(rows["bigram_diversity"]),
        entropy_bits=_mean(rows["entropy_bits"]),
        cosine=mean_pairwise_cosine(vectors) if len(vectors) > 1 else None,
        vendi=vendi,
        vectors=len(vectors),
        vendi_vectors=vendi_vectors,
        words=_mean(rows["words"]),
    )


def _refinement(steps: pl.DataFrame) -> tuple[RefinementStep, ...]:
    summed = steps.group_by("step").sum().sort("step")
    return tuple(
        RefinementStep(
            step=row["step"],
            reached=row["reached"],
            offered=row["offered"],
            preferred=row["preferred"],
            unparsable=row["unparsable"],
            accepted=row["accepted"],
            vendi_gain=share(row["gain"], row["gains"]),
        )
        for row in summed.iter_rows(named=True)
    )


def _spending(rows: pl.DataFrame, dropped: pl.DataFrame) -> tuple[Spending, ...]:
    """Add up by model; a rejected row has been paid for too."""
    both = pl.concat(
        [rows.select("model", *_SPENT, rejected=pl.lit(False)), dropped.select("model", *_SPENT, rejected=pl.lit(True))]
    )
    rejected = pl.col("rejected")
    summed = both.group_by("model").agg(
        (~rejected).sum().alias("records"),
        rejected.sum().alias("rejects"),
        *(pl.col(name).sum() for name in _SPENT),
        pl.col("cost_usd").filter(rejected).sum().alias("rejects_cost_usd"),
    )
    return tuple(Spending(**row) for row in summed.sort("model").iter_rows(named=True))


def _repetition(text_hashes: pl.Series, vectors: F32) -> Repetition:
    rows_by_text = text_hashes.value_counts()["count"]
    return Repetition(
        distinct_texts=len(rows_by_text),
        most_repeated=max(rows_by_text, default=0),
        near_share=near_share(vectors, NEAR_COSINE),
        near_cosine=NEAR_COSINE,
        vectors=len(vectors),
    )


def _profiles(rows: pl.DataFrame) -> Profiles:
    citizenships = _by_value(rows, "citizenship")
    stated = sum(citizenships.values())
    return Profiles(
        sexes=_by_value(rows, "sex"),
        ethnicities=_by_value(rows, "ethnicity"),
        ages=dict(sorted(_by_value(rows, "age").items())),
        non_us_share=share(stated - citizenships.get(US_CITIZEN, 0), stated),
    )
