"""A row of the scores table as a heat map: what the model found surprising, token by token."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tasks.records import SCORES
from tasks.surprise.explain.view import Explained, explain
from tasks.surprise.policy import Reference
from tasks.surprise.scored import ScoredSet

LONGEST = 40_000  # characters on a page: each token is an element of its own

Row = Mapping[str, Any]


def explained(row: Row, reference: Reference, prompts: Mapping[str, str]) -> Explained:
    """Explain the scores of a row, or of its beginning.

    Args:
        row: of ``tasks.records.SCORES``.
        reference: the model that scored it, as its shard's entry in the manifest says.
        prompts: of the passes, by name, from there too.
    """
    table = pa.Table.from_pylist([dict(beginning(row, LONGEST))], schema=SCORES)
    return explain(ScoredSet(table, reference, "", dict(prompts)), None)


def beginning(row: Row, characters: int) -> Row:
    """Return a row cut to the tokens that end within the first ``characters`` of the text."""
    if len(row["text"]) <= characters:
        return row
    kept = next((place for place, end in enumerate(row["token_ends"]) if end > characters), len(row["token_ends"]))
    stop = max(row["token_ends"][:kept], default=0)
    return {
        **row,
        "text": row["text"][:stop],
        "covered": min(row["covered"], stop),
        "supervised": None if row["supervised"] is None else _within(row["supervised"], stop),
        "labels": _within(row["labels"], stop),
        "regions": _within(row["regions"], stop),
        **{name: row[name][:kept] for name in ("token_ids", "token_starts", "token_ends")},
        "nll": [{"name": each["name"], "values": each["values"][:kept]} for each in row["nll"]],
    }


def _within(spans: list[dict[str, Any]], stop: int) -> list[dict[str, Any]]:
    return [{**span, "end": min(span["end"], stop)} for span in spans if span["start"] < stop]
