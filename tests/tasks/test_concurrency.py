"""The one place that starts asyncio tasks."""

import asyncio

import pytest

from tasks.concurrency import both, map_bounded


@pytest.mark.parametrize("limit", [1, 3, 100])
async def test_no_more_than_the_limit_run_at_once_and_results_keep_their_order(limit: int) -> None:
    running = peak = 0

    async def square(n: int) -> int:
        nonlocal running, peak
        running += 1
        peak = max(peak, running)
        for _ in range(1 + (7 * n) % 5):  # they end in another order than they began
            await asyncio.sleep(0)
        running -= 1
        return n * n

    assert await map_bounded(square, range(20), limit) == [n * n for n in range(20)]
    assert peak == min(limit, 20)


async def test_the_first_exception_is_raised_as_itself_and_ends_the_others() -> None:
    begun, ended = list[int](), list[int]()

    async def work(n: int) -> None:
        if n == 1:
            raise KeyError("one")
        begun.append(n)
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(n)

    with pytest.raises(KeyError, match="one") as caught:
        await map_bounded(work, range(9), 3)
    assert caught.value.__cause__ is None
    assert sorted(ended) == sorted(begun)
    assert {0, 2} <= set(begun) <= {0, 2, 3}


async def test_what_waits_for_its_turn_is_never_begun_after_a_cancellation() -> None:
    begun: list[int] = []

    async def work(n: int) -> None:
        begun.append(n)
        await asyncio.Event().wait()

    mapping = asyncio.create_task(map_bounded(work, range(5), 2))
    await asyncio.sleep(0.01)
    mapping.cancel()
    with pytest.raises(asyncio.CancelledError):
        await mapping
    assert begun == [0, 1]


async def test_nothing_to_do_is_done() -> None:
    async def work(n: int) -> int:
        raise AssertionError(n)

    assert await map_bounded(work, [], 1) == []


@pytest.mark.parametrize(("at_once", "order"), [(1, "aAbB"), (2, "abAB")])
async def test_two_things_are_done_one_after_the_other_or_together(at_once: int, order: str) -> None:
    seen: list[str] = []

    async def first() -> int:
        seen.append("a")
        await asyncio.sleep(0)
        seen.append("A")
        return 1

    async def second() -> str:
        seen.append("b")
        await asyncio.sleep(0)
        seen.append("B")
        return "2"

    assert await both(first, second, at_once) == (1, "2")
    assert "".join(seen) == order
