"""What is kept of a shard once its texts are forgotten: one narrow row a record, and sums.

A million such rows take a few hundred megabytes; the same records with text, attributes and embeddings take ten
gigabytes and more.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from tasks.diversity.metrics import bigram_diversity, entropy_bits, mattr
from tasks.diversity.vendi import unit_rows
from tasks.diversity.words import count_words, words

F32 = npt.NDArray[np.float32]

_TOKENS = tuple(pl.col("tokens").struct.field(name) for name in ("prompt", "cached", "completion", "reasoning"))
_PERSON = tuple(pl.col("profile").struct.field(name) for name in ("sex", "ethnicity", "citizenship", "age"))

_DESCRIPTIONS = ("record_type", "context", "format")
_LEXICAL = {
    "mattr": pl.Float64,
    "bigram_diversity": pl.Float64,
    "entropy_bits": pl.Float64,
    **{f"{name}_words": pl.Int64 for name in _DESCRIPTIONS},
}

_OFFERED = pl.col("verdict") != "no_candidate"  # where the model wrote no usable revision, nothing was judged
_GAIN = pl.col("vendi_candidate") - pl.col("vendi_current")


@dataclass(frozen=True, slots=True)
class MeasuredShard:
    """A shard in figures.

    Attributes:
        rows: one row a record: names it falls under, counts, lexical metrics, tokens, a hash of the text.
        group_sizes: attributes of each group.
        refinement: one row a step: how many revisions were offered, preferred, accepted; their Vendi gains summed up.
        vectors: the embeddings, in the order of ``rows``, shape (n, d).
    """

    rows: pl.DataFrame
    group_sizes: pl.Series
    refinement: pl.DataFrame
    vectors: F32


def measure(shard: pa.Table) -> MeasuredShard:
    """Measure a table of ``tasks.records.RECORDS``.

    Raises:
        ValueError: an embedding is not a unit vector, or not as long as the others.
    """
    frame = pl.DataFrame(pl.from_arrow(shard.drop_columns(["embedding", "prompt_shas"])))
    grounded = pl.col("attributes").list.eval(pl.element().struct.field("grounded").sum()).list.first()
    rows = frame.select(
        "record_id",
        "seed",
        "model",
        "language",
        "domain",
        "subcategory",
        "words",
        pl.col("text").hash().alias("text_hash"),
        pl.col("attributes").list.len(),
        grounded.alias("grounded"),
        pl.col("groups").list.len(),
        *_PERSON,
        "calls",
        *_TOKENS,
        "cost_usd",
    )
    lexical = pl.DataFrame([_lexical(*row) for row in frame.select("text", *_DESCRIPTIONS).iter_rows()], _LEXICAL)
    return MeasuredShard(rows.hstack(lexical), _group_sizes(frame), _refinement(frame), _vectors(shard))


def measure_rejects(shard: pa.Table) -> pl.DataFrame:
    """Keep of a table of ``tasks.records.REJECTS`` what is counted: the reason, and what the row cost."""
    frame = pl.DataFrame(pl.from_arrow(shard.drop_columns(["detail", "last_reply"])))
    return frame.select("seed", "model", "outcome", "step", "reason", "calls", *_TOKENS, "cost_usd")


def _lexical(text: str, *descriptions: str | None) -> dict[str, float | None]:
    """Metrics of the lower-cased words of ``text``, None where it has fewer than two; words of what describes it."""
    tokens = [word.lower() for word in words(text)]
    measured = len(tokens) > 1
    counts = zip(_DESCRIPTIONS, descriptions, strict=True)
    return {
        "mattr": mattr(tokens) if measured else None,
        "bigram_diversity": bigram_diversity(tokens) if measured else None,
        "entropy_bits": entropy_bits(tokens) if measured else None,
        **{f"{name}_words": None if said is None else count_words(said) for name, said in counts},
    }


def _group_sizes(frame: pl.DataFrame) -> pl.Series:
    groups = frame["groups"].explode(empty_as_null=False)
    return groups.struct.field("keys").list.len().fill_null(0).rename("size")


def _refinement(frame: pl.DataFrame) -> pl.DataFrame:
    steps = frame.select(pl.col("refinement").explode()).unnest("refinement")
    return steps.group_by("step").agg(
        pl.len().cast(pl.Int64).alias("reached"),
        _count(_OFFERED, "offered"),
        _count(pl.col("verdict") == "candidate", "preferred"),
        _count(pl.col("verdict") == "unparsable", "unparsable"),
        _count(pl.col("accepted"), "accepted"),
        _count(_GAIN.is_not_null(), "gains"),
        _GAIN.sum().alias("gain"),
    )


def _count(condition: pl.Expr, name: str) -> pl.Expr:
    return condition.cast(pl.Int64).sum().alias(name)


def _vectors(shard: pa.Table) -> F32:
    column = shard["embedding"].combine_chunks()
    if not len(column):
        return np.empty((0, 0), np.float32)
    vectors: F32 = column.flatten().to_numpy().reshape(len(column), -1)
    unit_rows(vectors, what=f"shard of record {shard['record_id'][0]}, embedding row")
    return vectors
