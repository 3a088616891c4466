"""Continuations by a model that a server has, over the completions method of the OpenAI protocol."""

import asyncio
import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from transformers import PreTrainedTokenizerBase

from tasks.concurrency import map_bounded
from tasks.measuring.sampling import Continuation, Prompt, Sampling


class Continued(Protocol):
    """What a server wrote."""

    @property
    def text(self) -> str:
        """As text."""
        ...

    @property
    def ids(self) -> tuple[int, ...] | None:
        """As tokens; None where the server does not tell them."""
        ...


class Completions(Protocol):
    """A served model (``infra.llm.completions``)."""

    @property
    def model(self) -> str:
        """The model's name."""
        ...

    @property
    def in_flight(self) -> int:
        """Requests worth starting at once."""
        ...

    async def complete(
        self, ids: Sequence[int], *, max_tokens: int, temperature: float, top_p: float, seed: int
    ) -> Continued:
        """Continue token ids."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(self, *exc: object) -> None: ...


@dataclass(frozen=True, eq=False)
class ServedSampler:
    """Asks for each sample by itself, with a seed of its own: a run that goes on asks for the same again.

    Where the server tells no token ids, its texts are turned into tokens here. They may then be other tokens than the
    model drew: a text can be written in several ways, and one that breaks off within a character is damaged.

    Attributes:
        completions: the model, not entered yet.
        tokenizer: of the very model that is served.
        ends: tokens that end a continuation.
    """

    completions: Completions
    tokenizer: PreTrainedTokenizerBase
    ends: Collection[int]

    @property
    def model(self) -> str:
        """The model's name, as stored with each row."""
        return self.completions.model

    def draw(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[list[Continuation]]:
        """Return ``sampling.samples`` continuations of each prompt, without the token that ended them.

        Raises:
            RequestRejected: the server will never take a prompt.
            BackendUnavailable: no answer after the retries.
        """
        return asyncio.run(self._draw(prompts, sampling))

    async def _draw(self, prompts: Sequence[Prompt], sampling: Sampling) -> list[list[Continuation]]:
        async def one(asked: tuple[Prompt, int]) -> Continuation:
            prompt, sample = asked
            continued = await self.completions.complete(
                prompt.ids,
                max_tokens=prompt.most_tokens,
                temperature=sampling.temperature,
                top_p=sampling.top_p,
                seed=seed_of(sampling.seed, prompt.id, sample),
            )
            return self._tokens(continued, prompt.most_tokens)

        wanted = [(prompt, sample) for prompt in prompts for sample in range(sampling.samples)]
        async with self.completions:
            drawn = await map_bounded(one, wanted, self.completions.in_flight)
        many = sampling.samples
        return [drawn[place * many : (place + 1) * many] for place in range(len(prompts))]

    def _tokens(self, continued: Continued, most: int) -> Continuation:
        ids = continued.ids
        if ids is None:
            read: list[int] = self.tokenizer(continued.text, add_special_tokens=False)["input_ids"]
            ids = tuple(read)
        end = next((place for place, token in enumerate(ids) if token in self.ends), len(ids))
        return ids[: min(end, most)]


def seed_of(seed: int, prompt: str, sample: int) -> int:
    """Return the seed of one sample of one prompt, below 2**31: some servers reject more."""
    digest = hashlib.sha256(f"{seed}\n{sample}\n{prompt}".encode()).digest()
    return int.from_bytes(digest[:4], "big") >> 1
