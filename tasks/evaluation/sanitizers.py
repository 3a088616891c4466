"""Where the clean text of a case comes from: known beforehand, or asked of a model by one prompt."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

import orjson

from infra.llm.types import Reply, Request, Usage
from tasks.ask import Asker, StepFailed
from tasks.cleaning.parts import reply_tokens
from tasks.cleaning.reply import check_clean, in_place_of
from tasks.evaluation.baselines import mask_spans
from tasks.evaluation.case import Case
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.prompts import SANITIZE
from tasks.events import EventLog, event_key
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.outcome import Spent

UNPAID = Spent({}, 0.0)


@dataclass(frozen=True, slots=True)
class Output:
    """What a sanitizer gave.

    Attributes:
        text: the clean text; None where it gave nothing that could be passed on.
        failure: why not.
        model: that was asked, if one was.
        spent: what it took.
    """

    text: str | None
    failure: str | None = None
    model: str | None = None
    spent: Spent = UNPAID


Sanitizer = Callable[[Case], Awaitable[Output]]


def from_texts(text_of: Callable[[Case], str | None]) -> Sanitizer:
    """Return a sanitizer whose texts are there already; None means that it gave nothing."""

    async def sanitize(case: Case) -> Output:
        text = text_of(case)
        return Output(text, None if text is not None else "no_output")

    return sanitize


def from_spans(find: Callable[[str], Awaitable[Iterable[tuple[int, int]]]]) -> Sanitizer:
    """Return a sanitizer that masks the spans that ``find`` finds in a text; it does not look at the request."""

    async def sanitize(case: Case) -> Output:
        return Output(mask_spans(case.text, await find(case.text)))

    return sanitize


def served(clean: Callable[[str, str], Awaitable[Output]], model: str, log: EventLog) -> Sanitizer:
    """Return a sanitizer that hands each text and its request to a cleaner elsewhere; what it gave is in ``log``.

    Args:
        clean: called with text and request.
        model: that it cleans with.
        log: of what was answered: it is not asked for again.
    """

    async def sanitize(case: Case) -> Output:
        async def produce() -> bytes:
            output = await clean(case.text, case.instruction)
            return orjson.dumps([output.text, output.failure])

        key = event_key(case.record_id, "served", model, case.text, case.instruction)
        text, failure = orjson.loads(await log.once(key, produce))
        return Output(text, failure)

    return sanitize


def zero_shot(
    model: MixedModel,
    run_seed: int,
    config: EvaluationConfig,
    log: EventLog,
    transcript: Callable[[Request, Reply], None] | None = None,
) -> Sanitizer:
    """Return a sanitizer that asks ``model`` by one prompt: a trained cleaner, or any other.

    It fails closed by the very rules of ``privasis clean``: what that would not pass on is no output here.
    """

    async def sanitize(case: Case) -> Output:
        ask = Asker(
            record_id=case.record_id,
            run_seed=run_seed,
            backend=model.backend,
            log=log,
            attempts=config.attempts,
            transcript=transcript,
        )
        core = case.text.strip()
        messages = SANITIZE.render(instruction=case.instruction, text=core)
        prompt_words = sum(len(message.content.split()) for message in messages)
        text, failure = None, None
        try:
            text = await ask.reply(
                "sanitize",
                messages,
                temperature=config.sanitizer_temperature,
                max_tokens=reply_tokens(core),
                check=lambda reply: in_place_of(case.text, check_clean(core, reply, prompt_words=prompt_words)),
            )
        except StepFailed as failed:
            failure = failed.reason
        tokens = sum((step.usage for step in ask.spent.values()), Usage())
        return Output(text, failure, model.backend.model, Spent(dict(ask.spent), model.cost_usd(tokens)))

    return sanitize
