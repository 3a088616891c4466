import asyncio
from collections.abc import Awaitable, Callable

import pytest

from infra.llm.budget import RATIO, RESERVE, TRICKLE_PER_S, RetryBudget
from infra.llm.limits import AdaptiveLimit
from infra.llm.retry import Retrier, RetryPolicy, Throttled, TimedOut, TransientFailure, retry_after
from infra.llm.types import BackendGone, BackendUnavailable, RequestRejected


class Time:
    """A clock that moves only when someone sleeps on it."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def _retrier(time: Time, *, max_attempts: int = 4, max_wait_s: float = 1000.0, ceiling: int = 8) -> Retrier:
    return Retrier(
        "m",
        RetryPolicy(max_attempts=max_attempts, max_wait_s=max_wait_s, base_s=1.0, cap_s=4.0),
        AdaptiveLimit(ceiling, clock=time, sleep=time.sleep),
        clock=time,
        sleep=time.sleep,
        uniform=lambda: 1.0,
    )


def _scripted(*outcomes: Exception | str) -> Callable[[], Awaitable[str]]:
    left = iter(outcomes)

    async def send() -> str:
        outcome = next(left)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return send


ERROR = TransientFailure("http_500", "HTTP 500: oops")
FULL = Throttled("http_429", "HTTP 429: slow down")


async def test_waits_double_up_to_the_cap() -> None:
    time = Time()
    retrier = _retrier(time, max_attempts=6)
    assert await retrier.call(_scripted(ERROR, ERROR, ERROR, ERROR, "yes")) == "yes"
    assert time.slept == [1.0, 2.0, 4.0, 4.0]


async def test_jitter_scales_the_whole_wait() -> None:
    time = Time()
    draws = iter([0.0, 0.25])
    retrier = Retrier(
        "m",
        RetryPolicy(base_s=1.0),
        AdaptiveLimit(1, clock=time, sleep=time.sleep),
        clock=time,
        sleep=time.sleep,
        uniform=lambda: next(draws),
    )
    await retrier.call(_scripted(ERROR, ERROR, "yes"))
    assert time.slept == [0.0, 0.5]


async def test_attempts_are_bounded_and_counted_by_kind() -> None:
    time = Time()
    retrier = _retrier(time)
    with pytest.raises(BackendUnavailable, match="m: failed 4 times, at last: HTTP 500: oops"):
        await retrier.call(_scripted(ERROR, TransientFailure("timeout", "slow"), ERROR, ERROR, "never"))
    assert retrier.counters.sent == 4
    assert retrier.counters.answered == 0
    assert retrier.counters.failures == {"http_500": 3, "timeout": 1}


async def test_retry_after_comes_before_the_jitter() -> None:
    time = Time()
    await _retrier(time).call(_scripted(TransientFailure("http_503", "busy", 20.0), "yes"))
    assert time.slept == [21.0]


async def test_a_wait_beyond_the_bound_gives_up_at_once_and_holds_nobody() -> None:
    time = Time()
    retrier = _retrier(time, max_wait_s=60.0)
    with pytest.raises(BackendUnavailable, match="would wait 3601 s in all, more than 60 s"):
        await retrier.call(_scripted(Throttled("http_429", "tomorrow", 3600.0)))
    assert await retrier.call(_scripted("yes")) == "yes"
    assert time.now == 0.0


async def test_other_errors_pass_through_and_free_their_place() -> None:
    time = Time()
    retrier = _retrier(time, ceiling=1)
    with pytest.raises(RequestRejected, match="too long"):
        await retrier.call(_scripted(RequestRejected("too long")))
    assert await asyncio.wait_for(retrier.call(_scripted("yes")), 1) == "yes"


async def test_429s_alone_use_up_the_attempts() -> None:
    time = Time()
    with pytest.raises(BackendUnavailable, match="failed 4 times"):
        await _retrier(time).call(_scripted(*[FULL] * 10))


@pytest.mark.parametrize(
    ("failure", "left"),
    [(FULL, 6), (TimedOut("timeout", "slow"), 6), (ERROR, 8), (TransientFailure("http_503", "x"), 8)],
)
async def test_429s_and_timeouts_narrow_the_limit_other_failures_do_not(failure: TransientFailure, left: int) -> None:
    time = Time()
    limit = AdaptiveLimit(8, clock=time, sleep=time.sleep)
    retrier = Retrier("m", RetryPolicy(), limit, clock=time, sleep=time.sleep)
    await retrier.call(_scripted(failure, "yes"))
    assert limit.current == left


async def test_sustained_429_throttles_and_burns_no_attempts_while_some_call_succeeds() -> None:
    """The server answers every fifth request, so that a call fails four times on average, and some far more often."""
    time = Time()
    retrier = _retrier(time, max_attempts=5, ceiling=32)
    sent = 0
    failures_of_a_call: list[int] = []

    async def call() -> str:
        failures = 0

        async def send() -> str:
            nonlocal sent, failures
            sent += 1
            refused = sent % 5 != 0
            await asyncio.sleep(0)
            if refused:
                failures += 1
                raise FULL
            return "yes"

        answer = await retrier.call(send)
        failures_of_a_call.append(failures)
        return answer

    assert await asyncio.gather(*[call() for _ in range(60)]) == ["yes"] * 60
    assert max(failures_of_a_call) > 5


async def test_a_call_that_alone_keeps_failing_is_rejected_not_the_shard() -> None:
    time = Time()
    retrier = _retrier(time)

    async def poison() -> str:
        await retrier.call(_scripted("others are fine"))
        raise ERROR

    with pytest.raises(RequestRejected, match="failed 4 times while other calls were answered"):
        await retrier.call(poison)


async def test_a_crash_after_good_answers_blames_the_backend_not_the_calls_in_flight() -> None:
    time = Time()
    retrier = _retrier(time)

    async def in_flight_at_the_crash() -> str:
        if retrier.counters.answered == 0:
            await retrier.call(_scripted("answered before the crash"))
        raise TransientFailure("connection", "refused")

    with pytest.raises(BackendUnavailable, match="refused"):
        await retrier.call(in_flight_at_the_crash)


NOON = 1_893_499_200.0  # 2030-01-01 12:00:00 UTC


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "20"}, 20.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after": "Tue, 01 Jan 2030 12:00:30 GMT"}, 30.0),
        ({"retry-after": "Tue, 01 Jan 2030 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "6m0s"}, 360.0),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "7.66s"}, 7.66),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "120ms"}, 0.12),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "1h2m3s"}, 3723.0),
        ({"x-ratelimit-remaining-tokens": "17", "x-ratelimit-reset-tokens": "6m0s"}, None),
        ({"x-ratelimit-remaining-tokens": "0", "x-ratelimit-reset-tokens": "later"}, None),
        (
            {
                "x-ratelimit-remaining-requests": "0",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-remaining-tokens": "0",
                "x-ratelimit-reset-tokens": "3s",
            },
            3.0,
        ),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, now_s=NOON) == (seconds if seconds is None else pytest.approx(seconds))


GONE = BackendGone("m: HTTP 401", "m")


async def test_a_refusal_for_good_is_believed_at_the_second_look_and_then_at_once() -> None:
    time = Time()
    retrier = _retrier(time)
    with pytest.raises(BackendGone, match="HTTP 401"):
        await retrier.call(_scripted(GONE, GONE))
    with pytest.raises(BackendGone, match="HTTP 401"):
        await retrier.call(_scripted("never sent"))
    assert retrier.counters.sent == 2


async def test_one_request_that_a_gateway_refuses_harms_no_other() -> None:
    time = Time()
    retrier = _retrier(time)

    async def forbidden() -> str:
        await retrier.call(_scripted("others are fine"))
        raise GONE

    with pytest.raises(RequestRejected, match="twice, while other calls were answered"):
        await retrier.call(forbidden)
    assert await retrier.call(_scripted("yes")) == "yes"


async def test_where_many_calls_fail_an_unlucky_one_is_not_given_up() -> None:
    time = Time()
    retrier = _retrier(time, max_attempts=3)
    left = iter(range(9))

    async def unlucky() -> str:
        for outcome in (ERROR, "yes"):  # every second call of the others fails, too
            await retrier.call(_scripted(*([ERROR, "yes"] if outcome is ERROR else ["yes"])))
        if next(left, None) is None:
            return "at last"
        raise ERROR

    assert await retrier.call(unlucky) == "at last"


def test_retries_are_a_quarter_of_the_answers_beyond_the_reserve() -> None:
    time = Time()
    budget = RetryBudget(time)
    taken = 0
    for _ in range(400):
        budget.earn()
        while budget.take() == 0:
            taken += 1
    assert taken == pytest.approx(RESERVE + 400 * RATIO, abs=1)
    assert 0 < budget.take() <= 1.0
    time.now += 2 / TRICKLE_PER_S
    assert [budget.take() == 0 for _ in range(3)] == [True, True, False]
