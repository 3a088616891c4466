"""One step of a chain: ask the model, check the reply, show it its error, give up with a reason."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import orjson

from infra.llm.types import (
    Backend,
    JsonSchema,
    Message,
    Reply,
    ReplyUnusable,
    Request,
    RequestRejected,
    Sampling,
    Usage,
)
from tasks.events import EventLog, event_key, rounds_of
from tasks.synthesis.replies import check_complete, check_free_text, parse_json
from tasks.synthesis.seeds import call_seed

T = TypeVar("T")

LEAST_AGAIN = 0.3  # temperature of an attempt that shall not repeat the one before it


class StepFailed(Exception):
    """A step whose replies never became usable; the record is quarantined with what this says."""

    def __init__(self, step: str, reason: str, detail: str, last_reply: str | None) -> None:
        super().__init__(f"{step}: {reason}: {detail}")
        self.step, self.reason, self.detail, self.last_reply = step, reason, detail, last_reply


@dataclass(frozen=True, slots=True)
class StepSpent:
    """Calls answered at one step, and their tokens."""

    calls: int
    usage: Usage


@dataclass
class Asker:
    """Asks on behalf of one record, through its journal.

    Where a step was granted another round (``tasks.events.rounds_of``) its attempts go on where they ended: those of
    the rounds before are replayed, each new one has a number, and so a seed and a key, of its own.

    Attributes:
        attempts: how often one step is asked in all, first time included; so many more in each further round.
        repeat_penalty: of what the model invents; what it copies must be free to repeat. See ``Sampling``.
        forbidden_characters: of free texts. See ``Sampling``.
        transcript: called with each request and reply, for previews.
        spent: what each step has been answered so far, replayed events included.
    """

    record_id: str
    run_seed: int
    backend: Backend
    log: EventLog
    attempts: int = 3
    repeat_penalty: float | None = None
    forbidden_characters: str = ""
    transcript: Callable[[Request, Reply], None] | None = None
    spent: dict[str, StepSpent] = field(default_factory=dict)
    rounds: Mapping[str, int] = field(init=False)

    def __post_init__(self) -> None:
        self.rounds = rounds_of(self.log, self.record_id)

    async def text(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        check: Callable[[str], T],
    ) -> T:
        """Ask for free text and return ``check`` of it.

        Raises:
            StepFailed: no attempt gave a text that ``check`` accepts (it raises ``ReplyUnusable`` for the others).
        """
        return await self._ask(
            step, messages, None, temperature, max_tokens, lambda reply: check(check_free_text(reply)), invents=True
        )

    async def reply(
        self,
        step: str,
        messages: Sequence[Message],
        *,
        temperature: float,
        max_tokens: int,
        check: Callable[[Reply], T],
    ) -> T:
        """Ask for free text and return ``check`` of the reply as it came, which is the only check there is.

        Raises:
            StepFailed: no attempt gave a reply that ``check`` accepts.
        """
        return await self._ask(step, messages, None, temperature, max_tokens, check, invents=False)

    async def json(
        self,
        step: str,
        messages: Sequence[Message],
        schema: JsonSchema,
        *,
        temperature: float,
        max_tokens: int,
        check: Callable[[Any], T],
        invents: bool = False,
    ) -> T:
        """Ask for JSON of the given schema and return ``check`` of the parsed value.

        ``check`` raises ``ReplyUnusable`` for a value that must not be used. ``invents`` says that the values are the
        model's own, so that the penalty on repetition applies as to free text; copied values would suffer from it.

        Raises:
            StepFailed: no attempt gave a value of that schema that ``check`` accepts.
        """

        def accept(reply: Reply) -> T:
            check_complete(reply)
            return check(parse_json(reply.text, schema))

        return await self._ask(step, messages, schema, temperature, max_tokens, accept, invents=invents)

    async def once(
        self, step: str, messages: Sequence[Message], schema: JsonSchema, *, temperature: float, max_tokens: int
    ) -> str:
        """Ask a single time and return the text, whatever it is: for replies whose absence has a meaning of its own.

        Raises:
            StepFailed: the backend rejected the request itself.
        """
        reply = await self._answer(step, 0, tuple(messages), schema, temperature, max_tokens, invents=False)
        return reply.text

    async def _ask(
        self,
        step: str,
        messages: Sequence[Message],
        schema: JsonSchema | None,
        temperature: float,
        max_tokens: int,
        accept: Callable[[Reply], T],
        *,
        invents: bool,
    ) -> T:
        failure = StepFailed(step, "not_asked", f"attempts = {self.attempts}", None)
        for number in range(1 + self.rounds.get(step, 0)):
            if number:  # at 0 another round would repeat the one before, whatever its seeds
                temperature = max(temperature, LEAST_AGAIN)
            outcome = await self._round(
                step, number * self.attempts, messages, schema, temperature, max_tokens, accept, invents=invents
            )
            if not isinstance(outcome, StepFailed):
                return outcome
            failure = outcome
        raise failure

    async def _round(
        self,
        step: str,
        first: int,
        messages: Sequence[Message],
        schema: JsonSchema | None,
        temperature: float,
        max_tokens: int,
        accept: Callable[[Reply], T],
        *,
        invents: bool,
    ) -> T | StepFailed:
        """Ask from attempt ``first`` on, at most ``attempts`` times, until a reply is accepted; else return why not."""
        turns = tuple(messages)
        failure = StepFailed(step, "not_asked", f"attempts = {self.attempts}", None)
        for attempt in range(first, first + self.attempts):
            reply = await self._answer(step, attempt, turns, schema, temperature, max_tokens, invents=invents)
            try:
                return accept(reply)
            except ReplyUnusable as error:
                failure = StepFailed(step, error.reason, str(error), reply.text)
                if reply.finish_reason == "length":
                    max_tokens *= 2  # the same limit would cut it again
                elif schema is not None and reply.text.strip():
                    turns = (*messages, Message("assistant", reply.text), Message("user", _repair(error)))
                else:
                    temperature = max(temperature, LEAST_AGAIN)  # at 0 the same refusal would come back
        return failure

    async def _answer(
        self,
        step: str,
        attempt: int,
        messages: tuple[Message, ...],
        schema: JsonSchema | None,
        temperature: float,
        max_tokens: int,
        *,
        invents: bool,
    ) -> Reply:
        """Return the reply to one attempt: from the journal where it stands there, from the model where not."""
        sampling = Sampling(
            temperature=temperature,
            max_tokens=max_tokens,
            seed=call_seed(self.run_seed, self.record_id, step, attempt),
            repeat_penalty=self.repeat_penalty if invents else None,
            forbidden_characters=self.forbidden_characters if schema is None else "",
        )
        tags = {"record_id": self.record_id, "step": step, "attempt": str(attempt)}
        request = Request(messages, sampling, schema, tags)

        async def produce() -> bytes:
            return orjson.dumps(await self.backend.complete(request))

        key = event_key(self.record_id, step, attempt, self.backend.model, messages, sampling, schema)
        try:
            stored = orjson.loads(await self.log.once(key, produce))
        except RequestRejected as error:
            raise StepFailed(step, "request_rejected", str(error), None) from error
        reply = Reply(**stored | {"usage": Usage(**stored["usage"])})
        before = self.spent.get(step, StepSpent(0, Usage()))
        self.spent[step] = StepSpent(before.calls + 1, before.usage + reply.usage)
        if self.transcript is not None:
            self.transcript(request, reply)
        return reply


def _repair(error: ReplyUnusable) -> str:
    return f"That reply cannot be used: {error}\nAnswer again with corrected JSON and nothing else."
