"""How many requests may be open at once: additive increase, multiplicative decrease, as TCP does it."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Self

Clock = Callable[[], float]
Sleep = Callable[[float], Awaitable[None]]

DECREASE = 0.75  # of the limit, at the first sign of pressure in a round trip
STEPS_TO_CEILING = 32  # round trips without pressure from nothing to the ceiling
_LOOK_AGAIN_S = 0.1  # while held


class AdaptiveLimit:
    """A first-come-first-served semaphore that narrows under pressure (429s, timeouts) and widens again on success.

    One round trip of pressure narrows it once: requests sent before the last decrease say nothing new. While the
    server's Retry-After runs, nobody is let through, unless the server answers a request that was sent after the one it
    refused: then it did not mean everyone (one replica of several, or one request with too many tokens).

    Args:
        ceiling: requests open at once without pressure.
        clock: seconds, monotonic.
        sleep: how to wait.
    """

    def __init__(self, ceiling: int, *, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self._ceiling = ceiling
        self._limit = float(ceiling)
        self._open = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._clock = clock
        self._sleep = sleep
        self._narrowed_at = float("-inf")
        self._closed_until = float("-inf")
        self._refused_sent_at = float("-inf")  # when the request was sent whose refusal closed it

    @property
    def current(self) -> int:
        """Requests that may be open at once now."""
        return int(self._limit)

    def widen(self, sent_at: float) -> None:
        """Count a success of the request sent at ``sent_at``: a full window of them adds one step."""
        if sent_at > self._refused_sent_at:
            self._closed_until = float("-inf")
        step = max(1.0, self._ceiling / STEPS_TO_CEILING)
        self._limit = min(float(self._ceiling), self._limit + step / self._limit)
        self._let_in()

    def narrow(self, sent_at: float, retry_after_s: float | None) -> None:
        """Count pressure on the request sent at ``sent_at``; hold everyone for as long as the server asks."""
        now = self._clock()
        if sent_at >= self._narrowed_at:
            self._limit = max(1.0, self._limit * DECREASE)
            self._narrowed_at = now
        if retry_after_s is not None:
            self._closed_until = max(self._closed_until, now + retry_after_s)
            self._refused_sent_at = max(self._refused_sent_at, sent_at)

    async def __aenter__(self) -> Self:
        await self._enter()
        try:
            while (left_s := self._closed_until - self._clock()) > 0:
                await self._sleep(min(left_s, _LOOK_AGAIN_S))
        except BaseException:
            self._leave()
            raise
        return self

    async def __aexit__(self, *exc: object) -> None:
        self._leave()

    async def _enter(self) -> None:
        if not self._waiting and self._open < self.current:
            self._open += 1
            return
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():  # let in and cancelled in the same turn of the loop: the place goes to the next
                self._leave()
            raise

    def _leave(self) -> None:
        self._open -= 1
        self._let_in()

    def _let_in(self) -> None:
        while self._waiting and self._open < self.current:
            turn = self._waiting.popleft()
            if not turn.cancelled():
                self._open += 1
                turn.set_result(None)
