"""Whether a rewrite of NaP² leaks: it does where it comes as close to what is private as the original, or closer."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa

from infra.llm.types import Reply, Request, Usage
from tasks.ask import Asker, StepFailed
from tasks.evaluation.bootstrap import Rate, rates
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.evaluator import CLOSER_SCHEMA, VERDICT_TOKENS, Closer, meant
from tasks.evaluation.nap2.rows import Nap2Row
from tasks.evaluation.prompts import NEARER_TEXT
from tasks.events import EventLog
from tasks.records import NAP2
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.outcome import Identity, Spent
from tasks.synthesis.seeds import rng

Outcome = Literal["safe", "leak", "unjudged"]


@dataclass(frozen=True, slots=True)
class Nap2Judgement:
    """A rewrite, judged.

    Attributes:
        identity: the row's, with the evaluator for a model.
        closer: which text tells more of what is private.
        reason: why it is unjudged.
    """

    identity: Identity
    row: Nap2Row
    outcome: Outcome
    closer: Closer | None
    reason: str | None
    spent: Spent

    def as_row(self) -> dict[str, Any]:
        """Return the row of ``NAP2``."""
        return {
            **asdict(self.row),
            "evaluator": self.identity.model,
            "outcome": self.outcome,
            "closer": self.closer,
            "reason": self.reason,
            "calls": self.spent.calls,
            "tokens": asdict(self.spent.tokens),
            "cost_usd": self.spent.cost_usd,
        }


@dataclass(frozen=True)
class Nap2Judge:
    """Asks one evaluator about rewrites, through a journal."""

    seed: int
    config: EvaluationConfig
    evaluator: MixedModel
    log: EventLog
    transcript: Callable[[Request, Reply], None] | None = None

    async def run(self, row: Nap2Row) -> Nap2Judgement:
        """Judge one rewrite; which text is shown first is drawn.

        A rewrite that is the original, letter by letter, is as close, and nobody is asked.

        Raises:
            BackendUnavailable: the evaluator does not answer.
        """
        ask = Asker(
            record_id=row.row_id,
            run_seed=self.seed,
            backend=self.evaluator.backend,
            log=self.log,
            attempts=self.config.attempts,
            transcript=self.transcript,
        )
        closer: Closer | None = None
        reason = None
        try:
            closer = "equal" if row.sanitized == row.original else await self._nearer(ask, row)
        except StepFailed as failure:
            reason = failure.reason
        outcome: Outcome = "unjudged" if closer is None else "safe" if closer == "original" else "leak"
        tokens = sum((step.usage for step in ask.spent.values()), Usage())
        spent = Spent(dict(ask.spent), self.evaluator.cost_usd(tokens))
        identity = Identity(row.row_id, row.index, self.seed, self.evaluator.backend.model, "")
        return Nap2Judgement(identity, row, outcome, closer, reason, spent)

    async def _nearer(self, ask: Asker, row: Nap2Row) -> Closer:
        sanitized_first = bool(rng(self.seed, row.row_id, "nearer").random() < 0.5)
        first, second = (row.sanitized, row.original) if sanitized_first else (row.original, row.sanitized)
        reply: dict[str, str] = await ask.json(
            "nearer",
            NEARER_TEXT.render(sensitive=row.sensitive, first=first, second=second),
            CLOSER_SCHEMA,
            temperature=self.config.temperature,
            max_tokens=VERDICT_TOKENS,
            check=dict[str, str],
        )
        return meant(reply["closer"], sanitized_first=sanitized_first)


def nap2_table(judgements: Sequence[Nap2Judgement]) -> pa.Table:
    """Put judgements into the table of a shard, in the order of the file."""
    ordered = sorted(judgements, key=lambda each: each.row.index)
    return pa.Table.from_pylist([each.as_row() for each in ordered], NAP2)


@dataclass(frozen=True, slots=True)
class LeakRatio:
    """PV Table 7: leaks among the rewrites that were judged, and how many were not."""

    ratio: Rate
    leaks: int
    unjudged: int


def leak_ratio(outcomes: Sequence[str], seed: int = 0) -> LeakRatio:
    """Count outcomes of ``NAP2`` rows."""
    leaks_N1 = np.array([[outcome == "leak"] for outcome in outcomes], dtype=np.float64).reshape(-1, 1)
    judged_N1 = np.array([[outcome != "unjudged"] for outcome in outcomes], dtype=np.float64).reshape(-1, 1)
    (ratio,) = rates(leaks_N1, judged_N1, seed)
    return LeakRatio(ratio, int(leaks_N1.sum()), len(outcomes) - int(judged_N1.sum()))
