"""An evaluation, ready to be shown: its figures, those of others of the same data set, and every failure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tasks.evaluation.figures import Scores
from tasks.evaluation.leaks import LEAKS
from tasks.report.marks import Segment, segments

FAILED_TARGET = (*LEAKS, "unjudged", "no_output")
FAILED_RETAINED = ("lost", "unjudged", "no_output")
KINDS = {
    "direct": "Direct leaks",
    "inference": "Inference leaks",
    "proximity": "Proximity leaks",
    "lost": "Lost, though it was to stay",
    "unjudged": "Not judged",
    "no_output": "No output",
}


@dataclass(frozen=True, slots=True)
class FailureView:
    """A fact that failed, or could not be judged."""

    record: str
    was_to_stay: bool
    key: str
    value: str
    short: bool
    outcome: str
    guess: str | None
    original_guess: str | None
    closer: str | None
    reason: str | None


@dataclass(frozen=True, slots=True)
class FailedRecord:
    """A record with any of these.

    Attributes:
        pieces: of the clean text, what leaks directly marked; none where the sanitizer gave nothing.
        failure: why it gave nothing.
    """

    record_id: str
    split: str
    domain: str
    instruction: str
    pieces: tuple[Segment, ...]
    failure: str | None
    failures: tuple[FailureView, ...]


@dataclass(frozen=True, slots=True)
class EvaluationView:
    """What the report of an evaluation shows.

    Attributes:
        sets: its figures, by set.
        others: those of the data set's other evaluations.
    """

    name: str
    dataset: str
    sanitizer: str
    evaluator: str
    second_evaluator: str | None
    sets: Mapping[str, Scores]
    others: Mapping[str, Mapping[str, Scores]]
    failed: tuple[FailedRecord, ...]

    @property
    def evaluations(self) -> dict[str, Mapping[str, Scores]]:
        """The figures of the others and then its own, by name."""
        return {**self.others, self.name: self.sets}

    @property
    def failures(self) -> dict[str, list[FailureView]]:
        """Every failure by its kind; kinds without any are left out."""
        found: dict[str, list[FailureView]] = {kind: [] for kind in KINDS}
        for record in self.failed:
            for failure in record.failures:
                found[failure.outcome].append(failure)
        return {kind: failures for kind, failures in found.items() if failures}


def failed_records(rows: Iterable[Mapping[str, Any]], splits: Mapping[str, str] | None) -> tuple[FailedRecord, ...]:
    """Return the records with a failure out of rows of ``tasks.records.EVALUATIONS``."""
    return tuple(
        FailedRecord(
            record_id=row["record_id"],
            split=(splits or {}).get(row["record_id"], ""),
            domain=row["domain"] or "",
            instruction=row["instruction"],
            pieces=_pieces(row),
            failure=row["failure"],
            failures=failures,
        )
        for row in rows
        if (failures := _failures(row))
    )


def _failures(row: Mapping[str, Any]) -> tuple[FailureView, ...]:
    targets = [_failure(row, each) for each in row["targets"] if each["outcome"] in FAILED_TARGET]
    retained = [
        _failure(row, {**each, "original_guess": None, "closer": None}, was_to_stay=True)
        for each in row["retained"]
        if each["outcome"] in FAILED_RETAINED
    ]
    return (*targets, *retained)


def _failure(row: Mapping[str, Any], judged: Mapping[str, Any], *, was_to_stay: bool = False) -> FailureView:
    return FailureView(
        record=row["record_id"],
        was_to_stay=was_to_stay,
        key=judged["key"],
        value=judged["value"],
        short=judged["short"],
        outcome=judged["outcome"],
        guess=judged["guess"],
        original_guess=judged["original_guess"],
        closer=judged["closer"],
        reason=judged["reason"],
    )


def _pieces(row: Mapping[str, Any]) -> tuple[Segment, ...]:
    if row["sanitized"] is None:
        return ()
    leaked = {each["value"] for each in row["targets"] if each["outcome"] == "direct"}
    return tuple(segments(row["sanitized"], [_places(row["sanitized"], value) for value in sorted(leaked)]))


def _places(text: str, value: str) -> list[tuple[int, int]]:
    places, start = list[tuple[int, int]](), text.find(value)
    while start >= 0:
        places.append((start, start + len(value)))
        start = text.find(value, start + len(value))
    return places
