"""The door of one client to a server that it shares with others: it lives on the limiter's grants."""

import asyncio
import time
import uuid
from contextlib import suppress
from dataclasses import dataclass

from infra.llm.limiter import LEASE_S, Demand, Grant, Limiter, LimiterUnavailable, Terms
from infra.llm.limits import Queue
from infra.llm.quotas import Quotas
from infra.llm.types import BackendGone, BackendUnavailable

LIMITER_AGAIN_S = 0.5
LIMITER_WITHIN_S = 60.0  # it is started again within seconds, or never
_APART_S = 0.02  # visits, however much happens
_WEIGHT = 0.1  # of the newest call in the running mean of their tokens


@dataclass(slots=True)
class _News:
    """What has happened since the last visit."""

    calls: int = 0
    tokens: float = 0.0
    answered: int = 0
    answered_sent_at: float = 0.0
    pressed: int = 0
    pressed_sent_at: float = 0.0
    retry_after_s: float | None = None
    failed: int = 0


class SharedLimit:
    """Lets calls through within what the limiter has granted, and tells it what became of them.

    Without a limiter it goes on with its last grant for as long as that is valid, then waits; those who have waited
    ``LIMITER_WITHIN_S`` in vain are told that the backend is unavailable.

    Args:
        limiter: of the run.
        server: provider and model.
        terms: those of the server.
    """

    def __init__(self, limiter: Limiter, server: str, terms: Terms) -> None:
        self._limiter, self._server, self._terms = limiter, server, terms
        self._client = uuid.uuid4().hex
        self._queue = Queue(self._is_free)
        self._grant = Grant(0, 0, 0)
        self._calls_left = 0
        self._tokens_each = 0.0
        self._news = _News()
        self._quotas = Quotas()
        self._gone: BackendGone | None = None
        self._broken: BaseException | None = None  # a bug of ours: better told than waited for
        self._is_idle = True  # and the limiter knows
        self._wanted = asyncio.Event()
        self._pump: asyncio.Task[None] | None = None

    @property
    def waits_for(self) -> str:
        """What keeps the calls that wait; empty if none does."""
        return self._grant.waits_for if len(self._queue) else ""

    async def enter(self, tokens: int) -> None:
        """Wait for a place for one try that will take about ``tokens``.

        Raises:
            BackendGone: the server will answer nobody any more.
            BackendUnavailable: the limiter does not come back.
        """
        if (refusal := self._gone or self._broken) is not None:
            raise refusal
        self._tokens_each += _WEIGHT * (tokens - self._tokens_each) if self._tokens_each else tokens
        if not self._grant.waits_for and not self._is_free(tokens):
            self._wanted.set()
        await self._queue.enter(tokens, self._take)

    def leave(self, tokens: int, used: int) -> None:
        """Give the place back, and correct what it was thought to take."""
        self._news.tokens += used - tokens
        self._queue.leave(self._take)

    def widen(self, sent_at: float) -> None:
        """Count an answer to the request sent at ``sent_at``."""
        self._news.failed = 0
        self._news.answered += 1
        self._news.answered_sent_at = max(self._news.answered_sent_at, sent_at)

    def narrow(self, sent_at: float, retry_after_s: float | None) -> None:
        """Count pressure on the request sent at ``sent_at``, and tell the others at once."""
        news = self._news
        news.pressed += 1
        news.pressed_sent_at = max(news.pressed_sent_at, sent_at)
        if retry_after_s is not None:
            news.retry_after_s = max(news.retry_after_s or 0.0, retry_after_s)
            self._calls_left = 0
        self._wanted.set()

    def fail(self) -> None:
        """Count a failure that is no pressure."""
        self._news.failed += 1

    def observe(self, quotas: Quotas) -> None:
        """Take in what the server says is left of its quotas."""
        self._quotas = quotas

    def shut(self, error: BackendGone) -> None:
        """Let nobody in any more, here and at the other clients."""
        self._gone = error
        self._queue.refuse(error)
        self._wanted.set()

    async def open(self) -> None:
        """Start visiting the limiter."""
        self._pump = asyncio.create_task(self._visit_for_ever())
        self._pump.add_done_callback(self._ended)

    async def close(self) -> None:
        """Stop that, and give back what is held."""
        if self._pump is not None:
            self._pump.cancel()
            await asyncio.wait([self._pump])
            try:
                await self._limiter.exchange(self._server, self._terms, Demand(self._client, 0, 0))
            except LimiterUnavailable:
                return  # nothing is held of a limiter that died

    def _is_free(self, tokens: int) -> bool:
        return self._queue.open < self._grant.width and self._calls_left > 0

    def _take(self, tokens: int) -> None:
        self._calls_left -= 1
        self._news.calls += 1
        self._news.tokens += tokens

    async def _visit_for_ever(self) -> None:
        lost_at: float | None = None
        while True:
            await self._until_wanted()
            news, self._news = self._news, _News()
            try:
                grant = await self._limiter.exchange(self._server, self._terms, self._demand(news))
            except LimiterUnavailable as error:
                now = time.monotonic()
                lost_at = lost_at or now
                self._lost(error, now - lost_at)
                await asyncio.sleep(LIMITER_AGAIN_S)
                self._wanted.set()
                continue
            lost_at = None
            self._apply(grant)
            await asyncio.sleep(_APART_S)

    async def _until_wanted(self) -> None:
        """Wait for something that cannot wait, or for the next visit that was agreed."""
        with suppress(TimeoutError):  # asyncio.wait_for would swallow a cancellation that comes with the event
            async with asyncio.timeout(None if self._is_idle else self._grant.again_s):
                await self._wanted.wait()
        self._wanted.clear()

    def _demand(self, news: _News) -> Demand:
        now, waiting = time.monotonic(), len(self._queue)
        self._is_idle = not self._queue.open and not waiting
        return Demand(
            client=self._client,
            open=self._queue.open,
            waiting=waiting,
            tokens_each=self._queue.tokens / waiting if waiting else self._tokens_each,
            used_calls=news.calls,
            used_tokens=news.tokens,
            answered=news.answered,
            answered_age_s=now - news.answered_sent_at,
            pressed=news.pressed,
            pressed_age_s=now - news.pressed_sent_at,
            retry_after_s=news.retry_after_s,
            failed=news.failed,
            quotas=self._quotas,
            gone=self._gone,
        )

    def _apply(self, grant: Grant) -> None:
        # What was begun or corrected while the limiter was asked is in the news of the next visit, and charged there.
        self._grant = grant
        self._calls_left = grant.calls - self._news.calls
        if grant.gone is not None:
            self._gone = grant.gone
            self._queue.refuse(grant.gone)
        self._queue.let_in(self._take)

    def _ended(self, pump: asyncio.Task[None]) -> None:
        if not pump.cancelled() and (error := pump.exception()) is not None:
            self._broken = error
            self._queue.refuse(error)

    def _lost(self, error: LimiterUnavailable, for_s: float) -> None:
        if for_s > LEASE_S:
            self._calls_left = 0
        if for_s > LIMITER_WITHIN_S:
            self._queue.refuse(BackendUnavailable(f"{self._server}: no limiter for {for_s:.0f} s: {error}"))
