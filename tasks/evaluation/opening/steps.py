"""Opens sanitizers: models and services are reached, files are read, once a process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import lru_cache, partial
from pathlib import Path

from infra.ray.job import WorkerContext
from infra.service.cleaner import Failure
from infra.service.client import ServiceClient
from infra.shards.checks import SchemaMismatch
from tasks.evaluation.baselines import baseline_text
from tasks.evaluation.choice import (
    AnySanitizer,
    BaselineSanitizer,
    ModelSanitizer,
    OutputsSanitizer,
    PresidioSanitizer,
    ServedSanitizer,
    sha256_of,
)
from tasks.evaluation.outputs import read_outputs
from tasks.evaluation.sanitizers import Output, Sanitizer, from_spans, from_texts, served
from tasks.events import EventLog


async def opened(
    choice: AnySanitizer, context: WorkerContext, log: EventLog, prompted: Callable[[], Sanitizer]
) -> Sanitizer:
    """Open a sanitizer.

    Args:
        choice: which.
        context: whose process is to share what is opened.
        log: of what a service has answered.
        prompted: returns the one that asks a model by one prompt.

    Raises:
        SchemaMismatch: a file of outputs has changed since the run began.
        ModelMissing: Presidio's spaCy model is not here.
    """
    match choice:
        case BaselineSanitizer(baseline=baseline):
            return from_texts(partial(baseline_text, baseline))
        case OutputsSanitizer(path=path, sha256=sha256):
            outputs = await asyncio.to_thread(_outputs, path, sha256)
            return from_texts(lambda case: outputs[case.record_id])
        case PresidioSanitizer(spacy_model=spacy_model):
            return from_spans(await context.shared(("presidio", spacy_model), partial(_presidio, spacy_model)))
        case ServedSanitizer(url=url, model=model, at_once=at_once):
            client = await context.shared(("service", url), partial(ServiceClient, url, at_once))
            return served(partial(_by_service, client), model, log)
        case ModelSanitizer():
            return prompted()


@asynccontextmanager
async def _presidio(spacy_model: str) -> AsyncIterator[Callable[[str], Awaitable[Sequence[tuple[int, int]]]]]:
    """Load Presidio once a process; it looks at one text at a time, in a thread beside the loop.

    Raises:
        ModelMissing: the spaCy model is not here.
    """
    from infra.detectors.presidio import Presidio  # an extra

    presidio = await asyncio.to_thread(Presidio, spacy_model)
    one_by_one = asyncio.Lock()

    async def find(text: str) -> Sequence[tuple[int, int]]:
        async with one_by_one:
            (spans,) = await asyncio.to_thread(presidio, [text], [""])
        return spans

    yield find


async def _by_service(client: ServiceClient, text: str, instruction: str) -> Output:
    answer = await client.clean(text, instruction)
    return Output(None, answer.reason) if isinstance(answer, Failure) else Output(answer.text)


@lru_cache(maxsize=2)
def _outputs(path: Path, sha256: str) -> Mapping[str, str | None]:
    """Read a file of outputs once a process.

    Raises:
        SchemaMismatch: it is not the file any more that the run began with.
    """
    if (now := sha256_of(path)) != sha256:
        raise SchemaMismatch(f"{path}: has changed since the run began ({sha256[:12]}, now {now[:12]}): start it again")
    return read_outputs(path)
