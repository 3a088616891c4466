"""Servers of a model that come and go: engines on a cluster, which start elsewhere when their node is lost."""

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, Self

from infra.llm.replicas import ReplicatedBackend
from infra.llm.retry import CallCounters
from infra.llm.types import Backend, BackendUnavailable, Reply, Request

logger = logging.getLogger(__name__)

POLL_S = 2.0


class RosterUnavailable(Exception):
    """Whoever keeps the roster does not answer; it starts again."""


@dataclass(frozen=True, slots=True)
class Servers:
    """The servers of a model at one moment.

    Attributes:
        addresses: of those that are up, each ending in /v1.
        key: what they take.
    """

    addresses: tuple[str, ...]
    key: str


class Roster(Protocol):
    """Knows which servers of a model are up."""

    async def servers(self) -> Servers:
        """Return those that are up now.

        Raises:
            RosterUnavailable: nobody can say.
        """
        ...


class RosterBackend:
    """Sends each call to one of the servers that are up, see ``ReplicatedBackend``, and follows their coming and going.

    Args:
        model: its name, the same on all servers.
        roster: knows the servers.
        connect: makes a client of one server, from its address and the key.
        patience_s: how long a call waits for any server.
        poll_s: from one look at the roster to the next.
    """

    def __init__(
        self,
        model: str,
        roster: Roster,
        connect: Callable[[str, str], Backend],
        *,
        patience_s: float,
        poll_s: float = POLL_S,
    ) -> None:
        self._roster = roster
        self._connect = connect
        self._poll_s = poll_s
        self._replicas = ReplicatedBackend(model, patience_s=patience_s)
        self._addresses: frozenset[str] = frozenset()
        self._following: asyncio.Task[None] | None = None

    @property
    def model(self) -> str:
        """The model's name, as asked for."""
        return self._replicas.model

    @property
    def counters(self) -> tuple[CallCounters, ...]:
        """Tries, answers and failures so far, of each server that is up."""
        return self._replicas.counters

    async def complete(self, request: Request) -> Reply:
        """Answer ``request`` from one of the servers; errors as of ``ReplicatedBackend``."""
        return await self._replicas.complete(request)

    async def __aenter__(self) -> Self:
        await self._replicas.__aenter__()
        try:
            await self._follow()
        except RosterUnavailable as error:
            raise BackendUnavailable(f"{self.model}: {error}") from error
        self._following = asyncio.create_task(self._follow_for_ever())
        return self

    async def __aexit__(self, *exc: object) -> None:
        if self._following is not None:
            self._following.cancel()
            await asyncio.wait([self._following])
        await self._replicas.__aexit__(*exc)

    async def _follow_for_ever(self) -> None:
        while True:
            await asyncio.sleep(self._poll_s)
            try:
                await self._follow()
            except RosterUnavailable as error:
                logger.warning("%s: %s; going on with the servers of before", self.model, error)

    async def _follow(self) -> None:
        servers = await self._roster.servers()
        now = frozenset(servers.addresses)
        for gone in sorted(self._addresses - now):
            logger.warning("%s: the server at %s is gone, its calls go to others", self.model, gone)
            await self._replicas.remove(gone)
        for new in sorted(now - self._addresses):
            await self._replicas.add(new, self._connect(new, servers.key))
        self._addresses = now
