"""Rows of ``tasks.records.EVALUATIONS``, written by hand."""

from typing import Any

from tasks.records import EVALUATIONS


def target(outcome: str, key: str = "name", value: str = "Ana Lima", **changes: Any) -> dict[str, Any]:
    row = {"target": 0, "key": key, "value": value, "short": len(value) <= 2, "outcome": outcome}
    return (
        row | {"guess": None, "original_guess": None, "closer": None, "second_closer": None, "reason": None} | changes
    )


def kept(outcome: str, key: str = "city", value: str = "Porto", **changes: Any) -> dict[str, Any]:
    row = {"key": key, "value": value, "short": len(value) <= 2, "outcome": outcome}
    return row | {"guess": None, "reason": None} | changes


def row(
    record_id: str, targets: list[dict[str, Any]], retained: list[dict[str, Any]] | None = None, **changes: Any
) -> dict[str, Any]:
    made = {
        "record_id": record_id,
        "index": 0,
        "seed": 7,
        "sanitizer": "triplets",
        "evaluator": "judge",
        "second_evaluator": None,
        "language": "English",
        "domain": "Health & Wellness",
        "instruction": "Hide it.",
        "sanitized": "Somebody.",
        "failure": None,
        "targets": targets,
        "retained": retained or [],
        "calls": 1,
        "tokens": {"prompt": 1, "cached": 0, "completion": 1, "reasoning": 0},
        "cost_usd": 0.0,
        "prompt_shas": [],
    } | changes
    assert made.keys() == set(EVALUATIONS.names)
    return made
