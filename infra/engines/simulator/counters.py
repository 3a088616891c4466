"""Counts what came to the door, for tests that ask what was repeated and what went wrong."""

import asyncio
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import BaseModel, ConfigDict

from infra.engines.simulator.sightings import Sightings


class Statistics(BaseModel):
    """What a server has seen since it started or was reset.

    Attributes:
        requests: calls that arrived: ``sum(answers.values()) + abandoned + waiting``.
        answers: calls by what they got: ``ok``, a fault's name, ``over_limit`` or ``rejected`` (400 and 404).
        abandoned: calls whose client went away before the answer.
        waiting: calls in work now; one that hangs on purpose is not among them.
        peak: the most calls open at once, hanging ones included.
        bodies: different request bodies.
        repeated: bodies that came more than once, by hash, with how often.
        prompt_tokens, completion_tokens: what the ``usage`` of all answers adds up to.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: int
    answers: dict[str, int]
    abandoned: int
    waiting: int
    peak: int
    bodies: int
    repeated: dict[str, int]
    prompt_tokens: int
    completion_tokens: int


class Call:
    """One call while it is open.

    Attributes:
        attempt: how often the same body came before.
    """

    __slots__ = ("_counters", "attempt", "is_answered")

    def __init__(self, counters: "Counters", attempt: int) -> None:
        self._counters = counters
        self.attempt = attempt
        self.is_answered = False

    def answered(self, outcome: str, usage: dict[str, Any] | None = None) -> None:
        """Say what the call got; without this it counts as abandoned."""
        self.is_answered = True
        self._counters.add_answer(outcome, usage or {})


class Counters:
    """Live counts; only the table of bodies grows, and only with new bodies."""

    def __init__(self) -> None:
        self._bodies = Sightings()
        self._answers: Counter[str] = Counter()
        self._arrivals: dict[int, asyncio.Event] = {}
        self._requests = self._abandoned = self._open = self._peak = 0
        self._prompt_tokens = self._completion_tokens = 0

    @contextmanager
    def call(self, key: int) -> Iterator[Call]:
        """Count one call from its arrival to the end of its answer."""
        self._requests += 1
        self._open += 1
        self._peak = max(self._peak, self._open)
        if arrival := self._arrivals.pop(self._requests, None):
            arrival.set()
        call = Call(self, self._bodies.add(key))
        try:
            yield call
        finally:
            self._open -= 1
            self._abandoned += not call.is_answered

    def add_answer(self, outcome: str, usage: dict[str, Any]) -> None:
        """Count an answer."""
        self._answers[outcome] += 1
        self._prompt_tokens += usage.get("prompt_tokens", 0)
        self._completion_tokens += usage.get("completion_tokens", 0)

    async def arrival_of(self, number: int) -> None:
        """Wait until the ``number``-th call has arrived."""
        if self._requests < number:
            await self._arrivals.setdefault(number, asyncio.Event()).wait()

    def statistics(self) -> Statistics:
        """Return the counts of this moment."""
        return Statistics(
            requests=self._requests,
            answers=dict(self._answers),
            abandoned=self._abandoned,
            waiting=self._requests - self._answers.total() - self._abandoned,
            peak=self._peak,
            bodies=len(self._bodies),
            repeated={f"{key:016x}": count for key, count in self._bodies.repeated().items()},
            prompt_tokens=self._prompt_tokens,
            completion_tokens=self._completion_tokens,
        )
