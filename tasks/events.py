"""A chain's memory: every reply and every decision it has taken, so that it can be replayed instead of repeated."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Protocol

import orjson


class EventLog(Protocol):
    """What a chain needs of a journal."""

    async def once(self, key: str, produce: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the event stored under ``key``, or await ``produce``, store its bytes and return them."""
        ...


class MemoryLog:
    """An event log that lasts as long as the process: for previews and tests."""

    def __init__(self) -> None:
        self.events: dict[str, bytes] = {}

    async def once(self, key: str, produce: Callable[[], Awaitable[bytes]]) -> bytes:
        """See ``EventLog.once``."""
        if key not in self.events:
            self.events[key] = await produce()
        return self.events[key]


def event_key(record_id: str, step: str, *identity: object) -> str:
    """Hash all that makes an event what it is; whatever changes one of these asks anew."""
    return hashlib.sha256(orjson.dumps([record_id, step, *identity])).hexdigest()
