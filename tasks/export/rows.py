"""Triplets as chats to train a cleaner on: the question that it will be asked, and the answer that it has to give."""

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa

from tasks.evaluation.prompts import SANITIZE
from tasks.evaluation.splits import SPLITS, Split

PROMPT_SHA = SANITIZE.sha

COLUMNS = (
    *("record_id", "language", "model", "text", "instruction", "sanitized", "verified"),
    *("targets", "retained", "words", "instruction_words"),
)

_FACT = pa.struct([("key", pa.string()), ("value", pa.string())])

# One chat a row. What stands beside it is for evaluation and for choosing, not for the model.
CHATS = pa.schema(
    [
        pa.field("record_id", pa.string(), nullable=False),
        pa.field("messages", pa.list_(pa.struct([("role", pa.string()), ("content", pa.string())])), nullable=False),
        pa.field("language", pa.string(), nullable=False),
        pa.field("model", pa.string(), nullable=False),  # that wrote the clean text and the request
        pa.field("verified", pa.bool_(), nullable=False),  # no value of a target stands in the clean text
        pa.field(
            "targets",
            pa.list_(
                pa.struct(
                    [
                        ("name", pa.string()),
                        ("label", pa.string()),  # 'abstract' or 'drop'
                        ("is_group", pa.bool_()),
                        ("attributes", pa.list_(_FACT)),
                    ]
                )
            ),
            nullable=False,
        ),
        pa.field("retained", pa.list_(_FACT), nullable=False),  # what the request asks to keep
        pa.field("words", pa.int32(), nullable=False),  # of the text
        pa.field("instruction_words", pa.int32(), nullable=False),  # of the request alone
    ]
)

EXPORTED: tuple[Split, ...] = tuple(split for split in SPLITS if split != "left_out")


def chats(triplets: pa.Table, splits: Mapping[str, Split] | None) -> dict[Split, pa.Table]:
    """Sort the ``COLUMNS`` of a shard of triplets into one table of chats a split; empty ones are left out.

    A triplet that is not verified is in none but the tests, and in no test before there are splits.

    Args:
        triplets: of one shard.
        splits: record id -> split; None where the data set was never split: then all is for training.
    """
    rows: dict[Split, list[dict[str, Any]]] = {split: [] for split in EXPORTED}
    for row in triplets.to_pylist():
        split = split_of(row, splits)
        if split is not None:
            rows[split].append(_chat(row))
    return {split: pa.Table.from_pylist(found, CHATS) for split, found in rows.items() if found}


def split_of(row: Mapping[str, Any], splits: Mapping[str, Split] | None) -> Split | None:
    """Return where a triplet goes, None for nowhere."""
    split = "train" if splits is None else splits.get(row["record_id"], "left_out")
    is_learnt_from = split in ("train", "validation")
    return None if split == "left_out" or (is_learnt_from and not row["verified"]) else split


def _chat(row: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **{name: row[name] for name in ("record_id", "language", "model", "verified", "words", "instruction_words")},
        "messages": list(_messages(row)),
        "targets": [
            {name: target[name] for name in ("name", "label", "is_group", "attributes")} for target in row["targets"]
        ],
        "retained": [{"key": kept["key"], "value": kept["value"]} for kept in row["retained"]],
    }


def _messages(row: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    for message in SANITIZE.render(instruction=row["instruction"], text=row["text"]):
        yield {"role": message.role, "content": message.content}
    yield {"role": "assistant", "content": row["sanitized"]}
