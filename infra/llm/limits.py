"""The door to one server: first come, first served, no more inside at once than its window allows."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Protocol, Self

from infra.llm.quotas import Quotas
from infra.llm.types import BackendGone
from infra.llm.window import Clock, Window

Sleep = Callable[[float], Awaitable[None]]

_LOOK_AGAIN_S = 0.1  # while held


class Limit(Protocol):
    """What stands between the calls of one client and the server."""

    async def enter(self, tokens: int) -> None:
        """Wait for a place for one try that will take about ``tokens``.

        Raises:
            BackendGone: the server will answer nobody any more.
            BackendUnavailable: who deals out the places does not answer.
        """
        ...

    def leave(self, tokens: int, used: int) -> None:
        """Give the place back; it was entered for ``tokens``, the server has charged ``used``."""
        ...

    def widen(self, sent_at: float) -> None:
        """Count an answer to the request sent at ``sent_at``."""
        ...

    def narrow(self, sent_at: float, retry_after_s: float | None) -> None:
        """Count pressure on the request sent at ``sent_at``."""
        ...

    def fail(self) -> None:
        """Count a failure that is no pressure."""
        ...

    def observe(self, quotas: Quotas) -> None:
        """Take in what the server says is left of its quotas."""
        ...

    def shut(self, error: BackendGone) -> None:
        """Let nobody in any more: each who waits or comes is told ``error``."""
        ...

    async def open(self) -> None:
        """Begin."""
        ...

    async def close(self) -> None:
        """End, and give back what is held."""
        ...


class Queue:
    """Who waits for a place, and how many have one.

    Args:
        is_free: whether one more who needs so many tokens may go in now.
    """

    def __init__(self, is_free: Callable[[int], bool]) -> None:
        self.open = 0
        self._is_free = is_free
        self._waiting: deque[tuple[asyncio.Future[None], int]] = deque()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def tokens(self) -> int:
        """Tokens that those who wait need together."""
        return sum(tokens for _, tokens in self._waiting)

    async def enter(self, tokens: int, took: Callable[[int], None]) -> None:
        """Wait for a place; ``took`` is called in the moment in which it is given."""
        if not self._waiting and self._is_free(tokens):
            self.open += 1
            took(tokens)
            return
        turn = asyncio.get_running_loop().create_future()
        turn.add_done_callback(lambda done: None if done.cancelled() else done.exception())  # seen, if nobody waits
        self._waiting.append((turn, tokens))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled() and turn.exception() is None:
                self.leave(took)  # let in and cancelled in the same turn of the loop: the place goes to the next
            raise

    def leave(self, took: Callable[[int], None]) -> None:
        """Give a place back."""
        self.open -= 1
        self.let_in(took)

    def let_in(self, took: Callable[[int], None]) -> None:
        """Give places to those who wait, as long as there are any."""
        while self._waiting and self._is_free(self._waiting[0][1]):
            turn, tokens = self._waiting.popleft()
            if not turn.done():
                self.open += 1
                took(tokens)
                turn.set_result(None)

    def refuse(self, error: BaseException) -> None:
        """Tell all who wait ``error``."""
        while self._waiting:
            turn, _ = self._waiting.popleft()
            if not turn.done():
                turn.set_exception(error)


class AdaptiveLimit:
    """The limit of a client that has the server to itself; it knows no quotas but what 429s tell.

    Args:
        ceiling: requests open at once without pressure.
        clock: seconds, monotonic.
        sleep: how to wait.
    """

    def __init__(self, ceiling: int, *, clock: Clock = time.monotonic, sleep: Sleep = asyncio.sleep) -> None:
        self._window = Window(ceiling, clock)
        self._queue = Queue(lambda _: self._queue.open < self._window.width)
        self._sleep = sleep
        self._gone: BackendGone | None = None

    @property
    def current(self) -> int:
        """Requests that may be open at once now."""
        return self._window.width

    async def enter(self, tokens: int = 0) -> None:
        """Wait for a place, and until the server takes requests again."""
        self._check()
        await self._queue.enter(tokens, _nothing)
        try:
            while (left_s := self._window.held_s) > 0:
                await self._sleep(min(left_s, _LOOK_AGAIN_S))
                self._check()
        except BaseException:
            self.leave()
            raise

    def leave(self, tokens: int = 0, used: int = 0) -> None:
        """Give the place back."""
        self._queue.leave(_nothing)

    def widen(self, sent_at: float) -> None:
        """Count a success of the request sent at ``sent_at``."""
        self._window.widen(sent_at)
        self._queue.let_in(_nothing)

    def narrow(self, sent_at: float, retry_after_s: float | None) -> None:
        """Count pressure on the request sent at ``sent_at``; hold everyone for as long as the server asks."""
        self._window.narrow(sent_at, retry_after_s)

    def fail(self) -> None:
        """Count a failure that is no pressure."""
        self._window.fail()

    def observe(self, quotas: Quotas) -> None:
        """Wait for the 429: a lone client has no budget of tokens to share."""

    def shut(self, error: BackendGone) -> None:
        """Let nobody in any more."""
        self._gone = error
        self._queue.refuse(error)

    async def open(self) -> None:
        """Nothing to begin."""

    async def close(self) -> None:
        """Nothing to give back."""

    async def __aenter__(self) -> Self:
        await self.enter()
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.leave()

    def _check(self) -> None:
        if self._gone is not None:
            raise self._gone


def _nothing(_: int) -> None:
    """Take nothing but the place."""
