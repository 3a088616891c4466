"""The evaluation of a record: its clean text, then every fact that was to go and every one that was to stay."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from infra.llm.types import Reply, Request, Usage
from tasks.ask import Asker
from tasks.concurrency import map_bounded
from tasks.evaluation.case import Case, Fact, Place
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.leaks import JudgedTarget, judge_target
from tasks.evaluation.outcome import Evaluation
from tasks.evaluation.prompts import PROMPT_SHAS
from tasks.evaluation.retention import JudgedRetained, judge_retained
from tasks.evaluation.sanitizers import UNPAID, Sanitizer
from tasks.events import EventLog
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.outcome import Spent
from tasks.synthesis.seeds import rng

FACTS_AT_ONCE = 8  # of one record


@dataclass(frozen=True)
class EvaluationChain:
    """Judges the outputs of one sanitizer; holds what its records share and keeps nothing of any of them.

    Attributes:
        run_seed: the run's; with a record's id it decides every random choice.
        second: another evaluator, asked which guess is closer wherever the first one is.
        log: the shard's journal: what stands there is not asked again.
        transcript: called with each request and reply.
        originals: what the evaluator has guessed from original texts already, for another sanitizer: not asked again.
    """

    run_seed: int
    config: EvaluationConfig
    sanitizer_name: str
    sanitizer: Sanitizer
    evaluator: MixedModel
    second: MixedModel | None
    log: EventLog
    transcript: Callable[[Request, Reply], None] | None = None
    originals: Mapping[Place, str] = field(default_factory=dict)

    async def run(self, case: Case) -> Evaluation:
        """Judge one record.

        Raises:
            BackendUnavailable: a model does not answer; the shard has to be tried again later.
        """
        output = await self.sanitizer(case)
        ask = self._asker(case, self.evaluator)
        second = self._asker(case, self.second) if self.second else None
        targets = await self._targets(case, output.text, ask, second)
        retained = await self._retained(case, output.text, ask)
        return Evaluation(
            case=case,
            seed=self.run_seed,
            sanitizer=self.sanitizer_name,
            evaluator=self.evaluator.backend.model,
            second_evaluator=self.second.backend.model if self.second else None,
            output=output,
            targets=targets,
            retained=retained,
            spent_judging=_spent(self.evaluator, ask),
            spent_by_second=_spent(self.second, second) if self.second and second else UNPAID,
            prompt_shas=PROMPT_SHAS,
        )

    async def _targets(
        self, case: Case, sanitized: str | None, ask: Asker, second: Asker | None
    ) -> tuple[JudgedTarget, ...]:
        if sanitized is None:
            return tuple(JudgedTarget(fact, "no_output") for fact in case.targets)

        async def judge(numbered: tuple[int, Fact]) -> JudgedTarget:
            number, fact = numbered
            return await judge_target(
                ask,
                second,
                number,
                fact,
                sanitized=sanitized,
                original=case.text,
                original_guess=self.originals.get((case.record_id, number)),
                draw=rng(self.run_seed, case.record_id, f"closer-{number}"),
                temperature=self.config.temperature,
            )

        return tuple(await map_bounded(judge, enumerate(case.targets), FACTS_AT_ONCE))

    async def _retained(self, case: Case, sanitized: str | None, ask: Asker) -> tuple[JudgedRetained, ...]:
        if sanitized is None:
            return tuple(JudgedRetained(fact, "no_output") for fact in case.retained)

        async def judge(numbered: tuple[int, Fact]) -> JudgedRetained:
            number, fact = numbered
            return await judge_retained(ask, number, fact, sanitized=sanitized, temperature=self.config.temperature)

        return tuple(await map_bounded(judge, enumerate(case.retained), FACTS_AT_ONCE))

    def _asker(self, case: Case, model: MixedModel) -> Asker:
        return Asker(
            record_id=case.record_id,
            run_seed=self.run_seed,
            backend=model.backend,
            log=self.log,
            attempts=self.config.attempts,
            transcript=self.transcript,
        )


def _spent(model: MixedModel, ask: Asker) -> Spent:
    return Spent(dict(ask.spent), model.cost_usd(sum((step.usage for step in ask.spent.values()), Usage())))
