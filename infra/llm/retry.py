"""When to try a call again, how long to wait before it, and when to give up."""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Any, Generic, TypeVar

from infra.llm.budget import RetryBudget
from infra.llm.limits import Limit, Sleep
from infra.llm.meter import METER
from infra.llm.quotas import SECONDS, duration_s
from infra.llm.types import BackendGone, BackendUnavailable, RequestRejected, Usage
from infra.llm.window import Clock

T = TypeVar("T")

GONE_AGAIN_S = 1.0  # before a refusal for good is believed
UNLIKELY = 1e-5  # that a call fails so often by bad luck alone
NO_TOKENS = Usage()


class TransientFailure(Exception):
    """A try that failed in a way that another may not.

    Args:
        kind: a short name to count by: ``http_503``, ``timeout``, ``connection``, ``no_choices``.
        detail: what happened, for a person; without request or reply text.
        retry_after_s: how long the server asked us to wait.
        usage: tokens of a reply that was no use, as the server reported them: they are paid for.
    """

    def __init__(self, kind: str, detail: str, retry_after_s: float | None = None, usage: Usage = NO_TOKENS) -> None:
        super().__init__(kind, detail, retry_after_s, usage)
        self.kind = kind
        self.detail = detail
        self.retry_after_s = retry_after_s
        self.usage = usage

    def __str__(self) -> str:
        return self.detail


class Throttled(TransientFailure):
    """A 429: the request was fine, there were too many of them."""


class _Doubted(Exception):
    """A refusal for good that has to be seen again before it is believed."""


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
    wasted: Usage = NO_TOKENS  # of replies that were no use
    waited_s: float = 0.0  # between tries, summed over calls

    def __str__(self) -> str:
        kinds = ", ".join(f"{kind} {count}" for kind, count in self.failures.most_common()) or "none"
        return f"{self.sent} sent, {self.answered} answered, failures: {kinds}"


@dataclass(frozen=True, slots=True)
class Expected:
    """Tokens that one try is expected to take."""

    prompt: int = 0
    total: int = 0


@dataclass(frozen=True, slots=True)
class Size(Generic[T]):
    """How large a call is: before it is sent, and when it was answered."""

    expected: Callable[[], Expected]
    used: Callable[[T], int]


FREE_OF_TOKENS: Size[Any] = Size(Expected, lambda _: 0)


@dataclass(slots=True)
class _Failures:
    """The failed tries of one call, and what became of the client's other calls in the meantime.

    Attributes:
        errors: those other than 429s.
        stalled: 429s in a row without an answer to anyone.
        refusals: for good.
        others_answered: whether anyone was answered between the last two.
    """

    counters: CallCounters
    count: int = 0
    errors: int = 0
    stalled: int = 0
    refusals: int = 0
    others_answered: bool = False
    _answered_at_start: int = field(init=False)
    _failed_at_start: int = field(init=False)
    _answered_before: int = field(init=False)

    def __post_init__(self) -> None:
        self._answered_at_start = self._answered_before = self.counters.answered
        self._failed_at_start = self.counters.failures.total()

    def add(self, failure: TransientFailure) -> None:
        self.count += 1
        self.look()
        if isinstance(failure, Throttled):
            self.stalled = 0 if self.others_answered else self.stalled + 1
        else:
            self.errors += 1

    def look(self) -> bool:
        self.others_answered = self.counters.answered > self._answered_before
        self._answered_before = self.counters.answered
        return self.others_answered

    def are_its_own_fault(self, max_attempts: int) -> bool:
        """Tell a call that cannot work from one that was unlucky: where a third of all calls fails, some fail often."""
        answered = self.counters.answered - self._answered_at_start
        failed = self.counters.failures.total() - self._failed_at_start - self.count - self.refusals
        share = failed / (failed + answered)
        return share**self.errors < UNLIKELY or self.errors >= 4 * max_attempts


class Retrier:
    """Sends calls through a limit and repeats the tries that fail for now.

    Args:
        name: the model, for messages.
        policy: when to give up.
        limit: shared by all calls of the client, if not by all clients.
        clock: seconds, monotonic.
        sleep: how to wait.
        uniform: draws from [0, 1).
    """

    def __init__(
        self,
        name: str,
        policy: RetryPolicy,
        limit: Limit,
        *,
        clock: Clock = time.monotonic,
        sleep: Sleep = asyncio.sleep,
        uniform: Callable[[], float] = random.random,
    ) -> None:
        self.counters = CallCounters()
        self._name = name
        self._policy = policy
        self._limit = limit
        self._budget = RetryBudget(clock)
        self._refused: tuple[float, int] | None = None  # for good: when first since an answer, and answers until then
        self._clock = clock
        self._sleep = sleep
        self._uniform = uniform

    async def call(self, send: Callable[[], Awaitable[T]], size: Size[T] = FREE_OF_TOKENS) -> T:
        """Return what ``send`` returns, after as many tries as the policy allows.

        Args:
            send: makes one try.
            size: how many tokens a try is expected to take, and how many an answer took.

        Raises:
            RequestRejected: it failed to the last, while others were answered between its last two tries: the fault is
                its own (a prompt that hangs or crashes the server), and must not cost the shard.
            BackendUnavailable: it failed to the last and nobody was answered either, or it would wait too long.
            BackendGone: nobody will be answered any more.
        """
        own = _Failures(self.counters)
        waited_s = 0.0
        while True:
            try:
                answer = await self._try(send, size)
            except TransientFailure as failure:
                own.add(failure)
                wait_s = self._wait_s(own.count, failure.retry_after_s)
                waited_s += wait_s
                self._give_up_if_vain(own, failure, waited_s)
            except _Doubted as doubted:
                own.refusals += 1
                if own.refusals > 1:  # others were answered in between, or it would have been believed
                    raise RequestRejected(f"{doubted} twice, while other calls were answered") from doubted
                await self._sleep(GONE_AGAIN_S)
                continue
            else:
                self._budget.earn()
                return answer
            self.counters.waited_s += wait_s
            await self._sleep(wait_s)
            while (wait_s := self._budget.take()) > 0:
                await self._sleep(wait_s)

    def _give_up_if_vain(self, own: "_Failures", last: TransientFailure, waited_s: float) -> None:
        if own.errors + own.stalled >= self._policy.max_attempts:
            if not own.others_answered:
                raise BackendUnavailable(f"{self._name}: failed {own.count} times, at last: {last}") from last
            if own.count > 1 and own.are_its_own_fault(self._policy.max_attempts):
                raise RequestRejected(
                    f"{self._name}: failed {own.count} times while other calls were answered, at last: {last}"
                ) from last
        if waited_s > self._policy.max_wait_s:
            raise BackendUnavailable(
                f"{self._name}: would wait {waited_s:.0f} s in all, more than {self._policy.max_wait_s:.0f} s, "
                f"after {own.count} failures, at last: {last}"
            ) from last

    async def _try(self, send: Callable[[], Awaitable[T]], size: Size[T]) -> T:
        expected = size.expected()
        await self._limit.enter(expected.total)
        used = expected.prompt  # of a try that fails, unless the server says otherwise
        try:
            sent_at = self._clock()
            self.counters.sent += 1
            try:
                answer = await send()
            except TransientFailure as failure:
                self._count(failure)
                if isinstance(failure, Throttled | TimedOut):
                    self._limit.narrow(sent_at, self._bearable(failure.retry_after_s))
                    used = 0 if isinstance(failure, Throttled) else used
                if not isinstance(failure, Throttled):
                    self._limit.fail()
                raise
            except BackendGone as gone:
                self.counters.failures["gone"] += 1
                self._doubt(gone, sent_at)
                raise
            self.counters.answered += 1
            used = size.used(answer)
            self._limit.widen(sent_at)
            return answer
        finally:
            self._limit.leave(expected.total, used)

    def _doubt(self, gone: BackendGone, sent_at: float) -> None:
        """Shut the limit at the second look: a gateway may refuse a single request, or all of them for a moment.

        Raises:
            _Doubted: it was the first refusal since an answer, or was sent with it.
        """
        answered = self.counters.answered
        if self._refused is None or self._refused[1] < answered:
            self._refused = (self._clock(), answered)
        if sent_at < self._refused[0] + GONE_AGAIN_S:
            self._limit.narrow(sent_at, GONE_AGAIN_S)  # nobody else, until then or until an answer comes
            raise _Doubted(str(gone)) from gone
        self._limit.shut(gone)

    def _count(self, failure: TransientFailure) -> None:
        self.counters.failures[failure.kind] += 1
        self.counters.wasted += failure.usage
        METER.get().fail(self._name, failure.usage)

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
    if SECONDS.fullmatch(milliseconds := headers.get("retry-after-ms", "")):
        return float(milliseconds) / 1000
    if value := headers.get("retry-after", "").strip():
        return float(value) if SECONDS.fullmatch(value) else _seconds_until(value, now_s)
    resets = [
        duration_s(headers.get(f"x-ratelimit-reset-{quota}", ""))
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
