"""Scores by a model that an engine serves (vLLM over HTTP)."""

import asyncio
from collections.abc import Iterator, Sequence
from typing import Protocol, Self

from tasks.concurrency import map_bounded
from tasks.surprise.policy import Reference
from tasks.surprise.scoring.reading import Reading
from tasks.surprise.scoring.readings import Layout, slabs
from tasks.surprise.scoring.scorer import F32, Pass, Scored, Text, Tokenized
from tasks.surprise.scoring.sliding import check
from tasks.surprise.scoring.tokenizer import TextTokenizer, check_unicode

_SLAB_CHARACTERS = 1_000_000  # between results: enough requests to keep an engine busy


class TokenLogprobs(Protocol):
    """A served model that says how likely it finds tokens (``infra.llm.prompt_logprobs``)."""

    @property
    def in_flight(self) -> int:
        """Requests worth starting at once."""
        ...

    async def nll(self, ids: Sequence[int]) -> F32:
        """NLL of each token in nats, shape (len(ids),); NaN for the first."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...


class RemoteScorer:
    """A served model as a ``Scorer``; a context manager, because it holds connections.

    It runs an event loop of its own between calls: call it from a thread that runs none.

    Args:
        logprobs: the model, not entered yet.
        tokenizer: of the very model that is served.
        name: with revision, for ``reference``: the server does not tell it.
        context: most tokens that the server takes, less one that it writes.
        stride: tokens that a further window of a long text scores.

    Raises:
        ValueError: the stride does not fit the context.
    """

    def __init__(
        self, logprobs: TokenLogprobs, tokenizer: TextTokenizer, name: str, *, context: int, stride: int
    ) -> None:
        check(context, stride)
        self._logprobs = logprobs
        self._tokenizer = tokenizer
        self._reference = Reference(model=name, tokenizer_sha256=tokenizer.sha256)
        self._context = context
        self._stride = stride
        self._runner = asyncio.Runner()

    @property
    def reference(self) -> Reference:
        """Model and tokenizer."""
        return self._reference

    @property
    def prefix(self) -> tuple[int, ...]:
        """BOS, or nothing."""
        return self._tokenizer.prefix

    @property
    def context(self) -> int:
        """Most tokens read at once."""
        return self._context

    @property
    def stride(self) -> int:
        """Tokens a further window scores."""
        return self._stride

    def tokenize(self, texts: Sequence[Text]) -> list[Tokenized]:
        """See ``Scorer``."""
        return self._tokenizer.tokenize(texts)

    def score(self, texts: Sequence[Text], passes: Sequence[Pass]) -> Iterator[Scored]:
        """See ``Scorer``.

        Raises:
            RequestRejected: the server will never score one of the texts.
            BackendUnavailable: it does not answer now.
        """
        check_unicode(texts)
        layout = Layout(self._tokenizer, passes, self._context, self._stride)
        return (scored for slab in slabs(texts, _SLAB_CHARACTERS) for scored in self._score(layout, slab))

    def _score(self, layout: Layout, texts: Sequence[Text]) -> list[Scored]:
        sheet = layout.sheet(texts)
        self._runner.run(map_bounded(self._read, sheet.readings, self._logprobs.in_flight))
        return sheet.texts

    async def _read(self, reading: Reading) -> None:
        nll = await self._logprobs.nll([*reading.inputs.tolist(), int(reading.targets[-1])])
        reading.nll[:] = nll[-reading.targets.size :]

    def __enter__(self) -> Self:
        self._runner.__enter__()
        self._runner.run(self._logprobs.__aenter__())
        return self

    def __exit__(self, *exc: object) -> None:
        self._runner.run(self._logprobs.__aexit__(*exc))
        self._runner.close()
