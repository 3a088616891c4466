"""A few triplets to export."""

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from tasks.records import TRIPLETS

_EMPTY: dict[str, Any] = {"chunks": [], "leaks": [], "prompt_shas": []}


def triplet(index: int, **changed: Any) -> dict[str, Any]:
    return {
        "record_id": f"r-{index}",
        "index": index,
        "seed": 7,
        "model": "qwen3-80b",
        "language": "English",
        "text": f"Ana Lima wrote letter {index}.",
        "instruction": "Please take out who wrote it.",
        "sanitized": f"Somebody wrote letter {index}.",
        "verified": True,
        "targets": [
            target("who", ("first_name", "Ana"), ("last_name", "Lima"), is_group=True),
            target("number", ("letter_number", str(index)), label="abstract"),
        ],
        "retained": [{"key": "kind", "value": "letter", "overlap": 0.0}],
        "asked_length": "short",
        "words": 5,
        "instruction_words": 6,
        "sanitized_words": 4,
        "retries": 0,
        "calls": 9,
        "tokens": {"prompt": 5, "cached": 0, "completion": 2, "reasoning": 0},
        "cost_usd": 0.0,
        **_EMPTY,
        **changed,
    }


def target(name: str, *facts: tuple[str, str], is_group: bool = False, label: str = "drop") -> dict[str, Any]:
    attributes = [{"key": key, "value": value} for key, value in facts]
    shape: Mapping[str, Any] = {"weight": 5.0, "members_named": False, "passes": []}
    return {"name": name, "is_group": is_group, "label": label, "attributes": attributes, **shape}


def table(*rows: Mapping[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), TRIPLETS)
