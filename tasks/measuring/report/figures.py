"""Measurements as figures for a program: JSON without anything that a model wrote, and without any private value."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from tasks.measuring.extraction.attack import Attempt, ExtractionResult
from tasks.measuring.quirks.display import Display
from tasks.measuring.utility.gold import GoldResult
from tasks.measuring.utility.passing import Passing

Figures = Mapping[str, Any]


def extraction_figures(result: ExtractionResult) -> Figures:
    """Return the rates, and for each value after how many continuations it was found."""
    return {
        "model": result.model,
        "settings": result.settings.model_dump(mode="json"),
        "rates": [asdict(rate) for rate in result.rates],
        "values": [_value(attempt, result.settings.most_distance) for attempt in result.attempts],
    }


def _value(attempt: Attempt, most_distance: float) -> Figures:
    return {
        "id": attempt.target_id,
        "kind": attempt.kind,
        "revealed_tokens": attempt.revealed,
        "hidden_tokens": len(attempt.hidden),
        "share_of_occurrences": attempt.share,
        "least_distance": min(attempt.distances),
        "exact_after": _first(attempt.exact()),
        "approximate_after": _first(attempt.approximate(most_distance)),
    }


def _first(hits: Sequence[bool]) -> int | None:
    return hits.index(True) + 1 if any(hits) else None


def utility_figures(model: str, settings: Figures, passing: Passing, gold: GoldResult | None, left_out: int) -> Figures:
    """Return pass@k, how answers ended, and the gold NLL where the model is here, with the answers too long for it."""
    return {
        "model": model,
        "settings": settings,
        "pass_at": [asdict(rate) for rate in passing.rates],
        "endings": dict(passing.endings),
        "gold": None if gold is None else {**asdict(gold), "left_out": left_out},
    }


def quirk_figures(model: str, settings: Figures, display: Display) -> Figures:
    """Return the display rates."""
    return {"model": model, "settings": settings, **asdict(display)}


def to_json(figures: Figures) -> str:
    """Write figures for a program, and for a person to read as well."""
    return json.dumps(figures, indent=2, ensure_ascii=False, allow_nan=False) + "\n"
