"""Tables of scores made by hand: every character is a token, its id is its code point."""

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from tasks.records import SCORES

MODEL, TOKENIZER = "tiny", "a" * 64


def score_row(
    index: int, text: str, nll: Mapping[str, Sequence[float]] | None = None, **changed: Any
) -> dict[str, Any]:
    """A scored document without labels; by default each token has 1 nat."""
    passes = {"plain": [1.0] * len(text)} if nll is None else nll
    return {
        "document_id": f"d{index}",
        "index": index,
        "group": None,
        "text": text,
        "supervised": None,
        "labels": [],
        "labelled": False,
        "regions": [],
        "strata": [],
        "covered": len(text),
        "token_ids": [ord(character) for character in text],
        "token_starts": list(range(len(text))),
        "token_ends": list(range(1, len(text) + 1)),
        "nll": [{"name": name, "values": values} for name, values in passes.items()],
        "model": MODEL,
        "tokenizer_sha256": TOKENIZER,
        **changed,
    }


def score_table(rows: Sequence[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), SCORES)
