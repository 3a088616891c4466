import asyncio
from collections import Counter

import aiohttp
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.engines.simulator.faults import body_key
from infra.engines.simulator.sightings import Sightings
from tests.infra.engines.simulator.conftest import Serve


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 2**64 - 1) | st.integers(0, 5) | st.sampled_from([1 << 12, 1 << 13]), max_size=50))
def test_sightings_agree_with_a_counter(keys: list[int]) -> None:
    table, counter = Sightings(), Counter[int]()
    for key in keys:
        assert table.add(key) == counter[key]
        counter[key] += 1
    assert len(table) == len(counter)
    assert table.repeated() == {key: count for key, count in counter.items() if count > 1}


def test_sightings_survive_the_growth_of_their_table() -> None:
    table = Sightings()
    keys = [body_key(b"%d" % number) for number in range(20_000)]
    table.add(keys[0])
    assert [table.add(key) for key in keys] == [1] + [0] * 19_999
    assert all(table.add(key) == 1 for key in keys[2::2])
    assert table.repeated() == dict.fromkeys(keys[::2], 2)
    assert len(table) == 20_000


async def test_statistics_are_right_under_64_calls_at_once(serve: Serve) -> None:
    client = await serve(latency_ms=200)
    bodies = [client.body(f"Hello {number % 48}") for number in range(64)]  # 16 of them twice
    calls = [asyncio.create_task(client.post("v1/chat/completions", body)) for body in bodies]
    async with client.session.get(f"{client.origin}/control/wait", params={"requests": 64}) as response:
        assert response.status == 200
    during = await client.statistics()
    assert (during["waiting"], during["answers"]) == (64, {})
    await asyncio.gather(*calls)
    after = await client.statistics()
    assert after["requests"] == 64
    assert after["answers"] == {"ok": 64}
    assert (after["waiting"], after["abandoned"], after["peak"]) == (0, 0, 64)
    assert after["bodies"] == 48
    assert after["repeated"] == {f"{body_key(body):016x}": 2 for body in bodies[:16]}
    await client.chat("One more")
    assert (await client.statistics())["peak"] == 64


async def test_a_call_whose_client_leaves_is_counted_as_abandoned(serve: Serve) -> None:
    client = await serve(latency_ms=60_000)
    with pytest.raises(TimeoutError):
        await client.session.post(
            f"{client.origin}/v1/chat/completions",
            data=client.body("Hello"),
            timeout=aiohttp.ClientTimeout(total=0.2),
        )
    await asyncio.sleep(0.05)
    statistics = await client.statistics()
    assert (statistics["requests"], statistics["abandoned"], statistics["waiting"]) == (1, 1, 0)


async def test_waiting_ends_with_the_arrival_of_the_nth_call_and_not_before(serve: Serve) -> None:
    client = await serve(latency_ms=60_000)

    async def wait() -> int:
        async with client.session.get(f"{client.origin}/control/wait", params={"requests": 3}) as response:
            return response.status

    waiting = asyncio.create_task(wait())
    calls = [asyncio.create_task(client.chat(f"Hello {number}")) for number in range(2)]
    await asyncio.sleep(0.1)
    assert not waiting.done()
    calls.append(asyncio.create_task(client.chat("Hello 2")))
    assert await asyncio.wait_for(waiting, 5) == 200
    for call in calls:
        call.cancel()


async def test_a_reset_forgets_counts_and_attempts(serve: Serve) -> None:
    client = await serve(fault_rate=0.5, faults=("empty",))
    answers = [[await client.text("Hello") for _ in range(6)]]
    await client.post("control/reset", b"")
    answers.append([await client.text("Hello") for _ in range(6)])
    assert answers[0] == answers[1]
    assert len(set(answers[0])) == 2  # the fault, and the one answer to this body
    assert (await client.statistics())["requests"] == 6
