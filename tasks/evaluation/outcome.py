"""What the evaluation of a record ends in: a row of ``tasks.records.EVALUATIONS``."""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import pyarrow as pa

from tasks.ask import StepSpent
from tasks.evaluation.case import Case
from tasks.evaluation.leaks import JudgedTarget
from tasks.evaluation.retention import JudgedRetained
from tasks.evaluation.sanitizers import Output
from tasks.records import EVALUATIONS
from tasks.synthesis.outcome import Identity, Spent


@dataclass(frozen=True, slots=True)
class Bill:
    """What one model took for a record: an evaluation may ask three."""

    identity: Identity
    spent: Spent


@dataclass(frozen=True, slots=True)
class Evaluation:
    """A judged record.

    Attributes:
        seed: the run's; with the record's id it decides in which order guesses were shown.
        targets: in the order of the case's.
        retained: in the order of the case's.
        spent_judging: by the evaluator.
        spent_by_second: by the second evaluator.
    """

    case: Case
    seed: int
    sanitizer: str
    evaluator: str
    second_evaluator: str | None
    output: Output
    targets: tuple[JudgedTarget, ...]
    retained: tuple[JudgedRetained, ...]
    spent_judging: Spent
    spent_by_second: Spent
    prompt_shas: Mapping[str, str]

    @property
    def identity(self) -> Identity:
        """Which row it is, and who judged it."""
        return self._identity(self.evaluator)

    @property
    def bills(self) -> tuple[Bill, ...]:
        """What each model took."""
        parts = (
            (self.evaluator, self.spent_judging),
            (self.second_evaluator, self.spent_by_second),
            (self.output.model, self.output.spent),
        )
        return tuple(Bill(self._identity(model), spent) for model, spent in parts if model is not None)

    @property
    def spent(self) -> Spent:
        """What all of it took."""
        steps: dict[str, StepSpent] = {}
        for bill in self.bills:
            steps |= bill.spent.steps
        return Spent(steps, sum(bill.spent.cost_usd for bill in self.bills))

    def _identity(self, model: str) -> Identity:
        return Identity(self.case.record_id, self.case.index, self.seed, model, self.case.language)

    def row(self) -> dict[str, Any]:
        """Return the row of ``EVALUATIONS``."""
        return {
            "record_id": self.case.record_id,
            "index": self.case.index,
            "seed": self.seed,
            "sanitizer": self.sanitizer,
            "evaluator": self.evaluator,
            "second_evaluator": self.second_evaluator,
            "language": self.case.language,
            "domain": self.case.domain,
            "instruction": self.case.instruction,
            "sanitized": self.output.text,
            "failure": self.output.failure,
            "targets": [_target(judged) for judged in self.targets],
            "retained": [_retained(judged) for judged in self.retained],
            "calls": self.spent.calls,
            "tokens": asdict(self.spent.tokens),
            "cost_usd": self.spent.cost_usd,
            "prompt_shas": [{"prompt": prompt, "sha": sha} for prompt, sha in self.prompt_shas.items()],
        }


def _target(judged: JudgedTarget) -> dict[str, Any]:
    return {
        "target": judged.fact.target,
        "key": judged.fact.key,
        "value": judged.fact.value,
        "short": judged.fact.short,
        "outcome": judged.outcome,
        "guess": judged.guess,
        "original_guess": judged.original_guess,
        "closer": judged.closer,
        "second_closer": judged.second_closer,
        "reason": judged.reason,
    }


def _retained(judged: JudgedRetained) -> dict[str, Any]:
    return {
        "key": judged.fact.key,
        "value": judged.fact.value,
        "short": judged.fact.short,
        "outcome": judged.outcome,
        "guess": judged.guess,
        "reason": judged.reason,
    }


def tables(evaluations: Iterable[Evaluation]) -> dict[str, pa.Table]:
    """Put evaluations into the table of a shard, in the order of their records."""
    ordered = sorted(evaluations, key=lambda each: each.case.index)
    return {"evaluations": pa.Table.from_pylist([each.row() for each in ordered], EVALUATIONS)}
