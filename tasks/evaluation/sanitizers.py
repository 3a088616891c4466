"""Where the clean text of a case comes from: known beforehand, or asked of a model by one prompt."""

from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass

from infra.llm.types import Reply, Request, Usage
from tasks.ask import Asker, StepFailed
from tasks.evaluation.baselines import mask_spans
from tasks.evaluation.case import Case
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.prompts import SANITIZE
from tasks.events import EventLog
from tasks.synthesis.chain import MixedModel
from tasks.synthesis.outcome import Spent

SPARE_TOKENS = 256
TOKENS_A_BYTE = 0.4  # of UTF-8; texts of most scripts take 0.25 to 0.35


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


def zero_shot(
    model: MixedModel,
    run_seed: int,
    config: EvaluationConfig,
    log: EventLog,
    transcript: Callable[[Request, Reply], None] | None = None,
) -> Sanitizer:
    """Return a sanitizer that asks ``model`` by one prompt: a trained cleaner, or any other.

    It fails closed: an empty, refused or cut-off answer is no output.
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
        text, failure = None, None
        try:
            text = await ask.text(
                "sanitize",
                SANITIZE.render(instruction=case.instruction, text=case.text),
                temperature=config.sanitizer_temperature,
                max_tokens=SPARE_TOKENS + int(TOKENS_A_BYTE * len(case.text.encode("utf-8", "surrogatepass"))),
                check=str,
            )
        except StepFailed as failed:
            failure = failed.reason
        tokens = sum((step.usage for step in ask.spent.values()), Usage())
        return Output(text, failure, model.backend.model, Spent(dict(ask.spent), model.cost_usd(tokens)))

    return sanitize
