"""Lets so many requests in at once, so many more wait, and turns away the rest at once."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from infra.service.limits import ServiceLimits


class Full(Exception):
    """No more requests can wait."""


class WaitedTooLong(Exception):
    """The deadline came before the request's turn."""


class Gate:
    """Counts requests in work and waiting."""

    def __init__(self, limits: ServiceLimits) -> None:
        self._turns = asyncio.Semaphore(limits.at_once)
        self._most = limits.at_once + limits.waiting
        self._inside = 0

    @property
    def inside(self) -> int:
        """Requests in work or waiting."""
        return self._inside

    @asynccontextmanager
    async def turn(self, deadline: float) -> AsyncIterator[None]:
        """Wait for a turn, and keep it for the length of the block.

        Args:
            deadline: when waiting ends, on the event loop's clock.

        Raises:
            Full: too many wait already.
            WaitedTooLong: it took too long.
        """
        if self._inside >= self._most:
            raise Full
        self._inside += 1
        try:
            try:
                async with asyncio.timeout_at(deadline):
                    await self._turns.acquire()
            except TimeoutError as error:
                raise WaitedTooLong from error
            try:
                yield
            finally:
                self._turns.release()
        finally:
            self._inside -= 1
