"""Hand-written score shards for the commands: every character is a token."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from tasks.records import SCORE_REJECTS
from tasks.surprise.store.steps import scores_store
from tests.tasks.surprise.score_tables import MODEL, TOKENIZER, score_row, score_table

SECRET, PLAIN, BLANK = 5.0, 1.0, 0.5  # nats of a character of a secret, of a word, of a space


def write_scores(
    folder: Path,
    rows: Sequence[dict[str, Any]],
    *,
    shard_size: int = 2,
    prompts: dict[str, str] | None = None,
    model: str = MODEL,
) -> Path:
    """Commit rows as the score shards of the data set ``folder`` and return it."""
    store = scores_store(folder.parent, folder.name)
    for start in range(0, len(rows), shard_size):
        part = list(rows[start : start + shard_size])
        shard = ShardRange(start, start + len(part))
        notes: dict[str, Any] = {
            "reference": {"model": model, "tokenizer_sha256": TOKENIZER},
            "prompts": prompts or {},
        }
        with store.acquire(shard) as lease:
            store.commit(
                shard,
                {"scores": score_table(part), "score_rejects": SCORE_REJECTS.empty_table()},
                lease,
                len(part),
                spec_hash="s",
                input_hashes={},
                summary=ShardSummary(notes=notes),
            )
    return folder


def write_without_documents(folder: Path) -> Path:
    """Commit a score shard whose one row was rejected, and return its data set."""
    store, shard = scores_store(folder.parent, folder.name), ShardRange(0, 1)
    reject = {"document_id": "d0", "index": 0, "place": "a.jsonl, line 1", "reason": "blank_line", "detail": "blank"}
    tables = {"scores": score_table([]), "score_rejects": pa.Table.from_pylist([reject], SCORE_REJECTS)}
    notes: dict[str, Any] = {"reference": {"model": MODEL, "tokenizer_sha256": TOKENIZER}, "prompts": {}}
    with store.acquire(shard) as lease:
        store.commit(shard, tables, lease, 1, spec_hash="s", input_hashes={}, summary=ShardSummary(notes=notes))
    return folder


def secret_row(index: int, text: str, secret: str, **changed: Any) -> dict[str, Any]:
    """A labelled document whose characters of ``secret`` are surprising, wherever it stands first."""
    start = text.index(secret)
    nll = [BLANK if character.isspace() else PLAIN for character in text]
    nll[start : start + len(secret)] = [SECRET] * len(secret)
    label = {"start": start, "end": start + len(secret), "category": "password"}
    return score_row(index, text, {"plain": nll}, **{"labels": [label], "labelled": True} | changed)


def validation_rows() -> list[dict[str, Any]]:
    """Three documents with a secret each, one without."""
    return [
        secret_row(0, "key = hunter2 ok", "hunter2", strata=[{"name": "language", "value": "toml"}], group="ann"),
        secret_row(1, "the pin is 4711.\nbye", "4711", strata=[{"name": "language", "value": "text"}], group="ben"),
        secret_row(2, "token: qQzZ9 end", "qQzZ9", strata=[{"name": "language", "value": "toml"}], group="ann"),
        score_row(3, "nothing here", None, labelled=True, strata=[{"name": "language", "value": "text"}]),
    ]
