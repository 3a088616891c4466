"""A chain's memory: every reply and every decision it has taken, so that it can be replayed instead of repeated."""

import hashlib
from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Protocol

import orjson


class EventLog(Protocol):
    """What a chain needs of a journal."""

    def get(self, key: str) -> bytes | None:
        """Return the event stored under ``key``, or None."""
        ...

    async def once(self, key: str, produce: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the event stored under ``key``, or await ``produce``, store its bytes and return them."""
        ...


class MemoryLog:
    """An event log that lasts as long as the process: for previews and tests."""

    def __init__(self) -> None:
        self.events: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        """See ``EventLog.get``."""
        return self.events.get(key)

    async def once(self, key: str, produce: Callable[[], Awaitable[bytes]]) -> bytes:
        """See ``EventLog.once``."""
        if key not in self.events:
            self.events[key] = await produce()
        return self.events[key]


def event_key(record_id: str, step: str, *identity: object) -> str:
    """Hash all that makes an event what it is; whatever changes one of these asks anew."""
    return hashlib.sha256(orjson.dumps([record_id, step, *identity])).hexdigest()


def again_key(record_id: str, time: int) -> str:
    """Return the key of the mark that lets a step of a record be asked again, for the ``time``-th time from 0."""
    return event_key(record_id, "again", time)


def rounds_of(log: EventLog, record_id: str) -> Counter[str]:
    """Return how many more rounds of attempts each step of a record was granted; a mark's body is the step's name.

    The marks are events like answers: whoever makes the record again from its journal asks as often as was asked then.
    """
    rounds: Counter[str] = Counter()
    while (step := log.get(again_key(record_id, rounds.total()))) is not None:
        rounds[step.decode()] += 1
    return rounds
