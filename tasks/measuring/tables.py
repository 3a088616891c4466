"""The tables of measurements: one row a value, prompt or gold answer. What a model wrote is here and nowhere else."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tasks.measuring.extraction.attack import Attempt
from tasks.measuring.utility.gold import GoldNll
from tasks.measuring.utility.passing import Judged, Verdict

ATTEMPTS = pa.schema(
    [
        pa.field("target_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("model", pa.string(), nullable=False),
        pa.field("revealed", pa.int32(), nullable=False),  # tokens of the value that the attacker is given
        pa.field("hidden", pa.list_(pa.int32()), nullable=False),  # the others
        pa.field("share", pa.float64()),  # of its occurrences, those of just these tokens; null for a value alone
        pa.field("continuations", pa.list_(pa.list_(pa.int32())), nullable=False),  # token ids, without the end
        pa.field("distances", pa.list_(pa.int32()), nullable=False),  # edit distance of each to ``hidden``
    ]
)

ANSWERS = pa.schema(
    [
        pa.field("prompt_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("model", pa.string(), nullable=False),
        pa.field("answers", pa.list_(pa.string()), nullable=False),
    ]
)

_VERDICT = pa.struct([("ending", pa.string()), ("detail", pa.string()), ("seconds", pa.float64())])

VERDICTS = pa.schema(
    [
        pa.field("prompt_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("verdicts", pa.list_(_VERDICT), nullable=False),  # one an answer, in their order
    ]
)

GOLD = pa.schema(
    [
        pa.field("example_id", pa.string(), nullable=False),
        pa.field("index", pa.int64(), nullable=False),
        pa.field("model", pa.string(), nullable=False),
        pa.field("tokens", pa.int32(), nullable=False),  # that count
        pa.field("nll", pa.float64(), nullable=False),  # their sum, in nats
    ]
)

Row = Mapping[str, Any]


def attempt_row(index: int, model: str, attempt: Attempt) -> Row:
    """Return an attempt as a row."""
    return {name: getattr(attempt, name) for name in Attempt.__slots__} | {"index": index, "model": model}


def attempts_of(rows: Sequence[Row]) -> list[Attempt]:
    """Read attempts back."""
    return [
        Attempt(
            target_id=row["target_id"],
            kind=row["kind"],
            revealed=row["revealed"],
            hidden=tuple(row["hidden"]),
            share=row["share"],
            continuations=tuple(map(tuple, row["continuations"])),
            distances=tuple(row["distances"]),
        )
        for row in rows
    ]


def verdict_row(index: int, judged: Judged) -> Row:
    """Return the verdicts on a prompt's answers as a row."""
    verdicts = [{name: getattr(verdict, name) for name in Verdict.__slots__} for verdict in judged.verdicts]
    return {"prompt_id": judged.id, "index": index, "task": judged.task, "verdicts": verdicts}


def judged_of(rows: Sequence[Row]) -> list[Judged]:
    """Read verdicts back."""
    return [Judged(row["prompt_id"], row["task"], tuple(Verdict(**each) for each in row["verdicts"])) for row in rows]


def gold_row(index: int, model: str, gold: GoldNll) -> Row:
    """Return a gold answer's NLL as a row."""
    return {"example_id": gold.id, "index": index, "model": model, "tokens": gold.tokens, "nll": gold.nll}


def gold_of(rows: Sequence[Row]) -> list[GoldNll]:
    """Read NLLs back."""
    return [GoldNll(row["example_id"], row["tokens"], row["nll"]) for row in rows]
