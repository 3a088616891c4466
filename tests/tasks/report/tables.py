"""Small record sets, written out."""

from datetime import date
from typing import Any

import pyarrow as pa

from tasks.records import RECORDS, REJECTS

SENTENCE = "the cat sat on the mat"
PAIRS = "a b a b"


def record(
    record_id: str, text: str = SENTENCE, vector: tuple[float, ...] = (1.0, 0.0), **columns: Any
) -> dict[str, Any]:
    """A row of the records table, plain where ``columns`` says nothing."""
    person = dict.fromkeys(RECORDS.field("profile").type.names)
    row = {
        "record_id": record_id,
        "index": 0,
        "seed": 7,
        "model": "small",
        "language": "English",
        "profile": person | {"sex": "female", "age": 30, "ethnicity": "Akan", "citizenship": "Ghanaian"},
        "event": {"name": "a move", "domain": "Health & Wellness", "date": date(2020, 1, 2), "attributes": []},
        "record_type": "a letter",
        "context": "after the move",
        "format": None,
        "text": text,
        "domain": "Health & Wellness",
        "subcategory": "Medical Care",
        "attributes": [],
        "groups": [],
        "refinement": [],
        "embedding": list(vector),
        "words": len(text.split()),
        "calls": 10,
        "tokens": {"prompt": 100, "cached": 40, "completion": 50, "reasoning": 5},
        "cost_usd": 0.25,
        "prompt_shas": [{"prompt": "draft", "sha": "00"}],
    }
    return row | columns


def attribute(key: str, value: str | None, *spans: tuple[int, int], grounded: bool | None = True) -> dict[str, Any]:
    placed = [{"start": start, "end": end} for start, end in spans]
    return {"key": key, "value": value, "source": "text", "grounded": grounded, "spans": placed}


def step(number: int, verdict: str, *, accepted: bool = False, gain: float | None = None) -> dict[str, Any]:
    return {
        "step": number,
        "verdict": verdict,
        "candidate_shown_first": True,
        "pool_size": 2,
        "vendi_current": None if gain is None else 1.5,
        "vendi_candidate": None if gain is None else 1.5 + gain,
        "score": None,
        "accepted": accepted,
    }


def reject(record_id: str, reason: str = "too_short", **columns: Any) -> dict[str, Any]:
    row = {
        "record_id": record_id,
        "index": 0,
        "seed": 7,
        "model": "small",
        "language": "English",
        "outcome": "filtered",
        "step": "draft",
        "reason": reason,
        "detail": "It has 12 words.",
        "last_reply": None,
        "calls": 3,
        "tokens": {"prompt": 20, "cached": 0, "completion": 10, "reasoning": 0},
        "cost_usd": 0.05,
    }
    return row | columns


def records(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), RECORDS)


def rejects(*rows: dict[str, Any]) -> pa.Table:
    return pa.Table.from_pylist(list(rows), REJECTS)
