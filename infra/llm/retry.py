"""When to try a call again, how long to wait before it, and when to give up."""

import asyncio
import random
import re
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TypeVar

from infra.llm.limits import AdaptiveLimit, Clock, Sleep
from infra.llm.types import BackendUnavailable, RequestRejected

T = TypeVar("T")

_SECONDS = re.compile(r"\d+(?:\.\d+)?")
_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+(?:\.\d+)?)s)?(?:(\d+(?:\.\d+)?)ms)?")


class TransientFailure(Exception):
    """A try that failed in a way that another may not.

    Args:
        kind: a short name to count by: ``http_503``, ``timeout``, ``connection``, ``no_choices``.
        detail: what happened, for a person; without request or reply text.
        retry_after_s: how long the server asked us to wait.
    """

    def __init__(self, kind: str, detail: str, retry_after_s: float | None = None) -> None:
        super().__init__(kind, detail, retry_after_s)
        self.kind = kind
        self.detail = detail
        self.retry_after_s = retry_after_s

    def __str__(self) -> str:
        return self.detail


class Throttled(TransientFailure):
    """A 429: the request was fine, there were too many of them."""


class TimedOut(TransientFailure):
    """No answer in time: it hangs, or the server has more than it can do and does not say so."""


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How stubborn one call is.

    Attributes:
        max_attempts: failed tries before it gives up. 429s count only as long as no other call is answered between
            them: under sustained throttling calls slow down, they do not burn out.
        max_wait_s: sum of the waits between its tries before it gives up; time spent queued does not count.
        base_s: scale of the first wait; each further one is drawn from an interval twice as long (full jitter).
        cap_s: longest such interval.
    """

    max_attempts: int = 6
    max_wait_s: float = 900.0
    base_s: float = 0.5
    cap_s: float = 30.0


@dataclass(slots=True)
class CallCounters:
    """What the calls of one client came to; failed tries are paid for too."""

    sent: int = 0
    answered: int = 0
    failures: Counter[str] = field(default_factory=Counter)  # failed tries by kind
    waited_s: float = 0.0  # between tries, summed over calls

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.failures.most_common()) or "none"
        return f"{self.sent} sent, {self.answered} answered, failures: {kinds}"


class Retrier:
    """Sends calls through a limit and repeats the tries that fail for now.

    Args:
        name: the model, for messages.
        policy: when to give up.
        limit: shared by all calls of the client.
        clock: seconds, monotonic.
        sleep: how to wait.
        uniform: draws from [0, 1).
    """

    def __init__(
        self,
        name: str,
        policy: RetryPolicy,
        limit: AdaptiveLimit,
        *,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        uniform: Callable[[], float] = random.random,
    ) -> None:
        self.counters = CallCounters()
        self._name = name
        self._policy = policy
        self._limit = limit
        self._clock = clock
        self._sleep = sleep
        self._uniform = uniform

    async def call(self, send: Callable[[], Awaitable[T]]) -> T:
        """Return what ``send`` returns, after as many tries as the policy allows.

        Raises:
            RequestRejected: it failed to the last, while others were answered between its last two tries: the fault is
                its own (a prompt that hangs or crashes the server), and must not cost the shard.
            BackendUnavailable: it failed to the last and nobody was answered either, or it would wait too long.
        """
        failed = errors = stalled = 0  # stalled: 429s in a row without an answer to anyone
        waited_s = 0.0
        answered_before = self.counters.answered
        while True:
            try:
                return await self._try(send)
            except TransientFailure as failure:
                last = failure
            others_answered = self.counters.answered > answered_before
            answered_before = self.counters.answered
            failed += 1
            if isinstance(last, Throttled):
                stalled = 0 if others_answered else stalled + 1
            else:
                errors += 1
            if errors + stalled >= self._policy.max_attempts:
                if others_answered and failed > 1:
                    raise RequestRejected(
                        f"{self._name}: failed {failed} times while other calls were answered, at last: {last}"
                    ) from last
                raise BackendUnavailable(f"{self._name}: failed {failed} times, at last: {last}") from last
            wait_s = self._wait_s(failed, last.retry_after_s)
            waited_s += wait_s
            if waited_s > self._policy.max_wait_s:
                raise BackendUnavailable(
                    f"{self._name}: would wait {waited_s:.0f} s in all, more than {self._policy.max_wait_s:.0f} s, "
                    f"after {failed} failures, at last: {last}"
                ) from last
            self.counters.waited_s += wait_s
            await self._sleep(wait_s)

    async def _try(self, send: Callable[[], Awaitable[T]]) -> T:
        async with self._limit:
            sent_at = self._clock()
            self.counters.sent += 1
            try:
                answer = await send()
            except TransientFailure as failure:
                self.counters.failures[failure.kind] += 1
                if isinstance(failure, Throttled | TimedOut):
                    self._limit.narrow(sent_at, self._bearable(failure.retry_after_s))
                raise
            self.counters.answered += 1
            self._limit.widen(sent_at)
            return answer

    def _bearable(self, retry_after_s: float | None) -> float | None:
        """Holding every call for longer than one may wait would hide that the backend is unavailable."""
        return None if retry_after_s is None or retry_after_s > self._policy.max_wait_s else retry_after_s

    def _wait_s(self, failed: int, retry_after_s: float | None) -> float:
        """Full jitter; what the server asks for comes before it, so that not all come back in the same instant."""
        jitter_s = self._uniform() * min(self._policy.cap_s, self._policy.base_s * 2.0 ** min(failed - 1, 16))
        return jitter_s if retry_after_s is None else retry_after_s + jitter_s


def retry_after(headers: Mapping[str, str], now_s: float) -> float | None:
    """Return how many seconds a response asks us to wait, or None if it does not say.

    Reads ``retry-after-ms``, ``retry-after`` (seconds or an HTTP date), and ``x-ratelimit-reset-*`` of the quotas of
    which nothing remains. What cannot be read is as good as absent.

    Args:
        headers: with lower-case or case-insensitive names.
        now_s: wall clock, seconds since the epoch, for dates.
    """
    if _SECONDS.fullmatch(milliseconds := headers.get("retry-after-ms", "")):
        return float(milliseconds) / 1000
    if value := headers.get("retry-after", "").strip():
        return float(value) if _SECONDS.fullmatch(value) else _seconds_until(value, now_s)
    resets = [
        _duration_s(headers.get(f"x-ratelimit-reset-{quota}", ""))
        for quota in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{quota}") == "0"
    ]
    return max((reset for reset in resets if reset is not None), default=None)


def _seconds_until(date: str, now_s: float) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    if moment.tzinfo is None:  # "-0000" reads as no zone; HTTP dates are in UTC
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, moment.timestamp() - now_s)


def _duration_s(text: str) -> float | None:
    """Read ``6m0s``, ``7.66s``, ``120ms`` or plain seconds."""
    if _SECONDS.fullmatch(text):
        return float(text)
    match = _DURATION.fullmatch(text)
    if match is None or not text:
        return None
    hours, minutes, seconds, milliseconds = (float(part or 0) for part in match.groups())
    return hours * 3600 + minutes * 60 + seconds + milliseconds / 1000
