"""A row of an evaluation in words: what leaks, at which level, and what did not stay."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from tasks.evaluation.report.view import failed_records
from tasks.report.marks import Segment, segments

Tone = Literal["good", "poor", "warn"]

# The gravest first: a record is called by the first that it has.
OUTCOMES: Mapping[str, tuple[str, Tone]] = {
    "direct": ("stands in the clean text, letter by letter", "poor"),
    "inference": ("guessed exactly from the clean text alone", "poor"),
    "proximity": ("guessed as closely from the clean text as from the original", "poor"),
    "no_output": ("the sanitizer gave no text", "warn"),
    "unjudged": ("the evaluator gave no usable answer", "warn"),
    "lost": ("was to stay, and the clean text does not tell it", "poor"),
    "safe": ("does not leak", "good"),
    "exact": ("stands in the clean text as it was", "good"),
    "guessed": ("guessed from the clean text", "good"),
    "present": ("the clean text still tells it", "good"),
}


@dataclass(frozen=True, slots=True)
class FactView:
    """What became of one fact."""

    key: str
    value: str
    short: bool
    outcome: str
    means: str
    tone: Tone
    guess: str | None
    original_guess: str | None
    closer: str | None
    second_closer: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class JudgedView:
    """A row of ``tasks.records.EVALUATIONS``; ``pieces`` are of the clean text, what leaks directly marked."""

    record_id: str
    instruction: str
    failure: str | None
    outcome: str
    tone: Tone
    pieces: tuple[Segment, ...]
    targets: tuple[FactView, ...]
    retained: tuple[FactView, ...]


def judged(row: Mapping[str, Any]) -> JudgedView:
    """Prepare a row."""
    outcome = outcome_of(row)
    plain = tuple(segments(row["sanitized"] or "", []))
    return JudgedView(
        record_id=row["record_id"],
        instruction=row["instruction"],
        failure=row["failure"],
        outcome=outcome,
        tone=OUTCOMES[outcome][1],
        pieces=next((failed.pieces for failed in failed_records([row], None)), plain),
        targets=tuple(_fact({**each}) for each in row["targets"]),
        retained=tuple(_fact({**each}) for each in row["retained"]),
    )


def outcome_of(row: Mapping[str, Any]) -> str:
    """Return what a record is called by: the gravest outcome of its facts; ``safe`` where all is well."""
    there = {each["outcome"] for facts in ("targets", "retained") for each in row[facts]}
    return next((outcome for outcome in OUTCOMES if outcome in there and OUTCOMES[outcome][1] != "good"), "safe")


def _fact(judged_fact: Mapping[str, Any]) -> FactView:
    means, tone = OUTCOMES[judged_fact["outcome"]]
    return FactView(
        key=judged_fact["key"],
        value=judged_fact["value"],
        short=judged_fact["short"],
        outcome=judged_fact["outcome"],
        means=means,
        tone=tone,
        guess=judged_fact["guess"],
        original_guess=judged_fact.get("original_guess"),
        closer=judged_fact.get("closer"),
        second_closer=judged_fact.get("second_closer"),
        reason=judged_fact["reason"],
    )
