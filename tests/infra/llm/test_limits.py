import asyncio

import pytest

from infra.llm.limits import AdaptiveLimit


class Time:
    """A clock that moves only when someone sleeps on it, or when told."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)


async def _peak(limit: AdaptiveLimit, calls: int) -> int:
    inside = peak = 0

    async def call() -> None:
        nonlocal inside, peak
        async with limit:
            inside += 1
            peak = max(peak, inside)
            await asyncio.sleep(0)
            inside -= 1

    await asyncio.gather(*[call() for _ in range(calls)])
    return peak


async def test_no_more_than_the_limit_are_inside_and_all_get_through() -> None:
    assert await _peak(AdaptiveLimit(3), 20) == 3


async def test_pressure_narrows_once_a_round_trip() -> None:
    time = Time()
    limit = AdaptiveLimit(64, clock=time, sleep=time.sleep)
    for _ in range(20):  # all sent at 0, all refused at 1
        time.now = 1.0
        limit.narrow(sent_at=0.0, retry_after_s=None)
    assert limit.current == 48
    limit.narrow(sent_at=1.0, retry_after_s=None)
    assert limit.current == 36
    assert await _peak(limit, 100) == 36


def test_it_never_narrows_below_one() -> None:
    limit = AdaptiveLimit(4, clock=lambda: 0.0)
    for sent_at in range(50):
        limit.narrow(sent_at=float(sent_at), retry_after_s=None)
    assert limit.current == 1


def test_a_window_of_successes_adds_one_step_up_to_the_ceiling() -> None:
    limit = AdaptiveLimit(32, clock=lambda: 0.0)
    limit.narrow(sent_at=0.0, retry_after_s=None)
    assert limit.current == 24
    for _ in range(26):
        limit.widen(sent_at=0.0)
    assert limit.current == 25
    for _ in range(1000):
        limit.widen(sent_at=0.0)
    assert limit.current == 32


async def test_success_lets_in_who_waits() -> None:
    limit = AdaptiveLimit(2, clock=lambda: 0.0)
    limit.narrow(sent_at=0.0, retry_after_s=None)
    assert limit.current == 1
    async with limit:
        second = asyncio.create_task(limit.__aenter__())
        await asyncio.sleep(0)
        assert not second.done()
        limit.widen(sent_at=0.0)
        await asyncio.wait_for(second, 1)
    await limit.__aexit__()


async def test_nobody_enters_before_retry_after_has_passed() -> None:
    time = Time()
    limit = AdaptiveLimit(8, clock=time, sleep=time.sleep)
    limit.narrow(sent_at=0.0, retry_after_s=20.0)
    limit.widen(sent_at=0.0)  # answered, but sent no later than the refused one
    async with limit:
        assert time.now == pytest.approx(20.0)


async def test_an_answer_to_a_later_request_ends_the_hold() -> None:
    time = Time()
    limit = AdaptiveLimit(8, clock=time, sleep=time.sleep)
    limit.narrow(sent_at=0.0, retry_after_s=20.0)
    held = asyncio.create_task(limit.__aenter__())
    await asyncio.sleep(0)
    limit.widen(sent_at=0.5)
    await held
    assert time.now < 1.0


async def test_who_is_cancelled_while_waiting_takes_no_place_with_him() -> None:
    limit = AdaptiveLimit(1)
    async with limit:
        waiting = asyncio.create_task(limit.__aenter__())
        await asyncio.sleep(0)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
    await asyncio.wait_for(_peak(limit, 5), 1)


async def test_who_is_cancelled_just_after_being_let_in_passes_the_place_on() -> None:
    limit = AdaptiveLimit(1)
    await limit.__aenter__()
    waiting = asyncio.create_task(limit.__aenter__())
    await asyncio.sleep(0)
    await limit.__aexit__()  # lets the waiting one in, which has not run yet
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert await asyncio.wait_for(_peak(limit, 5), 1) == 1
