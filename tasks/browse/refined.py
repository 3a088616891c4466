"""The refinement of a record, step by step: what the judge preferred, what the pool's diversity said, what was kept."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

VERDICTS = {
    "candidate": "the judge preferred the revision",
    "current": "the judge preferred the draft as it was",
    "unparsable": "the judge’s answer could not be read: the draft stays",
    "no_candidate": "no usable revision came: the draft stays",
}


@dataclass(frozen=True, slots=True)
class StepView:
    """One step.

    Attributes:
        gain: Vendi score of the pool with the revision less that with the draft; None where none was measured.
        width: of the gain's bar, of the largest of the record, 0 to 100.
    """

    step: int
    verdict: str
    means: str
    shown_first: str
    pool_size: int | None
    vendi_current: float | None
    vendi_candidate: float | None
    gain: float | None
    width: int
    score: float | None
    accepted: bool


def refined(steps: Sequence[Mapping[str, Any]]) -> list[StepView]:
    """Prepare the column ``refinement`` of a record."""
    gains = [_gain(step) for step in steps]
    largest = max((abs(gain) for gain in gains if gain is not None), default=0.0)
    return [
        StepView(
            step=step["step"],
            verdict=step["verdict"],
            means=VERDICTS.get(step["verdict"], step["verdict"]),
            shown_first="revision" if step["candidate_shown_first"] else "draft",
            pool_size=step["pool_size"],
            vendi_current=step["vendi_current"],
            vendi_candidate=step["vendi_candidate"],
            gain=gain,
            width=round(100 * abs(gain) / largest) if gain and largest else 0,
            score=step["score"],
            accepted=step["accepted"],
        )
        for step, gain in zip(steps, gains, strict=True)
    ]


def _gain(step: Mapping[str, Any]) -> float | None:
    current, candidate = step["vendi_current"], step["vendi_candidate"]
    return None if current is None or candidate is None else candidate - current
