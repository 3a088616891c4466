"""The Batch API against the simulator's."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.llm.batch_ledger import BatchLedger
from infra.llm.connect import Batching, Endpoint
from infra.llm.openai_batch import BatchBackend, batches_of
from infra.llm.types import BackendGone, BackendUnavailable, Message, Reply, Request, RequestRejected


def ask(number: int, **more: Any) -> Request:
    return Request((Message("user", f"Write a note of 20 words, number {number}."),), **more)


def endpoint_of(simulator: Simulator) -> Endpoint:
    return Endpoint(model="simulator", base_url=simulator.base_url, api_key_env=None)


def backend_of(simulator: Simulator, ledger: Path) -> BatchBackend:
    return BatchBackend(endpoint_of(simulator), ledger, Batching(linger_s=0.05, poll_s=0.02))


async def answers_to(backend: BatchBackend, count: int) -> list[Reply]:
    return await asyncio.gather(*[backend.complete(ask(number)) for number in range(count)])


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "batches.json"


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig()) as running:
        yield running


async def test_everyone_gets_the_answer_to_what_he_asked(simulator: Simulator, ledger: Path) -> None:
    async with backend_of(simulator, ledger) as backend:
        together = await answers_to(backend, 30)
        (again,) = await asyncio.gather(backend.complete(ask(7)))
    assert len({reply.text for reply in together}) == 30
    assert again.text == together[7].text  # results come in another order than requests
    assert all(reply.usage.completion > 0 for reply in together)
    assert len(BatchLedger(ledger).ids()) == 2  # thirty in one, the late one by itself


async def test_two_who_ask_the_same_share_one_request(simulator: Simulator, ledger: Path) -> None:
    async with backend_of(simulator, ledger) as backend:
        one, two = await asyncio.gather(backend.complete(ask(1)), backend.complete(ask(1)))
    assert one == two
    assert len(BatchLedger(ledger).names(BatchLedger(ledger).ids()[0])) == 1


async def test_what_expires_goes_out_again_and_what_came_is_not_asked_twice(ledger: Path) -> None:
    with start(SimulatorConfig(batch_expiry=0.5)) as simulator:
        async with backend_of(simulator, ledger) as backend:
            found = await asyncio.gather(*[backend.complete(ask(n)) for n in range(4)], return_exceptions=True)
        seen = simulator.statistics()
    assert sum(isinstance(each, Reply) for each in found) == 4
    assert seen.requests == seen.bodies == 4
    assert len(BatchLedger(ledger).ids()) == 3  # of four, two, one


async def test_one_bad_request_is_rejected_and_harms_no_other(simulator: Simulator, ledger: Path) -> None:
    bad = ask(1, schema={"type": "object", "patternProperties": {"x": {}}})
    async with backend_of(simulator, ledger) as backend:
        good, rejected = await asyncio.gather(backend.complete(ask(0)), backend.complete(bad), return_exceptions=True)
    assert isinstance(good, Reply)
    assert isinstance(rejected, RequestRejected)


async def test_what_always_fails_is_given_up_after_three_batches(ledger: Path) -> None:
    with start(SimulatorConfig(fault_rate=1, faults=("server_error",))) as simulator:
        async with backend_of(simulator, ledger) as backend:
            with pytest.raises(BackendUnavailable, match="not answered in 3 batches"):
                await backend.complete(ask(0))


async def test_who_comes_back_after_a_kill_gets_the_batch_that_was_sent(ledger: Path) -> None:
    with start(SimulatorConfig(batch_s=0.5)) as simulator:
        async with backend_of(simulator, ledger) as first:
            asked = [asyncio.create_task(first.complete(ask(number))) for number in range(10)]
            await asyncio.sleep(0.3)
            for each in asked:
                each.cancel()
        assert len(BatchLedger(ledger).ids()) == 1
        await asyncio.sleep(0.6)  # it ends while nobody is there
        async with backend_of(simulator, ledger) as second:
            await asyncio.sleep(0.1)  # and is fetched before anyone asks
            assert len(await answers_to(second, 10)) == 10
        assert simulator.statistics().requests == 10


def rename(ledger: Path, other: str) -> None:
    (number,) = BatchLedger(ledger).ids()
    ledger.write_text(ledger.read_text().replace(number, other))


def forget_the_number(ledger: Path) -> str:
    (number,) = BatchLedger(ledger).ids()
    ledger.write_text(ledger.read_text().replace(f'"id": "{number}"', '"id": null'))
    return number


async def test_a_batch_whose_number_was_lost_is_found_by_its_label(ledger: Path) -> None:
    with start(SimulatorConfig(batch_s=0.3)) as simulator:
        async with backend_of(simulator, ledger) as first:
            asked = [asyncio.create_task(first.complete(ask(number))) for number in range(5)]
            await asyncio.sleep(0.2)
            for each in asked:
                each.cancel()
        number = forget_the_number(ledger)
        assert BatchLedger(ledger).ids() == []
        async with backend_of(simulator, ledger) as second:
            assert len(await answers_to(second, 5)) == 5
        assert simulator.statistics().requests == 5
    assert BatchLedger(ledger).ids() == [number]


async def test_a_batch_that_never_reached_the_server_is_sent_anew(simulator: Simulator, ledger: Path) -> None:
    BatchLedger(ledger).begin(["0" * 32])
    async with backend_of(simulator, ledger) as backend:
        assert len(await answers_to(backend, 1)) == 1
    assert BatchLedger(ledger).unnumbered() == []


async def test_a_cancelled_batch_stops_and_what_it_had_answered_is_used(ledger: Path) -> None:
    with start(SimulatorConfig(batch_s=2)) as simulator:
        async with backend_of(simulator, ledger) as backend:
            asked = [asyncio.create_task(backend.complete(ask(number))) for number in range(20)]
            await asyncio.sleep(0.7)
            for each in asked:
                each.cancel()
        await batches_of(endpoint_of(simulator), ledger, cancel=True)
        await asyncio.sleep(0.5)
        stopped_at = simulator.statistics().requests
        await asyncio.sleep(0.5)
        assert 0 < simulator.statistics().requests == stopped_at < 20
        async with backend_of(simulator, ledger) as again:
            assert len(await answers_to(again, 20)) == 20
        seen = simulator.statistics()
    assert seen.requests == seen.bodies == 20


async def killed(backend: BatchBackend, after_s: float) -> None:
    """Ask for twenty answers, and for no more after a while."""
    async with backend:
        asked = [asyncio.create_task(backend.complete(ask(number))) for number in range(20)]
        await asyncio.sleep(after_s)
        for each in asked:
            each.cancel()


async def test_what_is_under_way_with_a_later_batch_is_not_sent_again_for_an_earlier_one(ledger: Path) -> None:
    with start(SimulatorConfig(batch_s=2)) as simulator:
        await killed(backend_of(simulator, ledger), 0.7)
        await batches_of(endpoint_of(simulator), ledger, cancel=True)
        await asyncio.sleep(0.5)
        await killed(backend_of(simulator, ledger), 0.7)  # which has sent the rest again
        assert len(BatchLedger(ledger).ids()) == 2
        async with backend_of(simulator, ledger) as again:
            assert len(await answers_to(again, 20)) == 20
        seen = simulator.statistics()
    assert seen.requests == seen.bodies == 20
    assert len(BatchLedger(ledger).ids()) == 2


async def test_a_batch_whose_number_was_lost_can_be_cancelled(ledger: Path) -> None:
    with start(SimulatorConfig(batch_s=2)) as simulator:
        await killed(backend_of(simulator, ledger), 0.3)
        number = forget_the_number(ledger)
        (cancelled,) = await batches_of(endpoint_of(simulator), ledger, cancel=True)
    assert (cancelled.id, cancelled.status) == (number, "cancelling")


async def test_a_batch_that_the_server_has_cleared_away_goes_out_again(simulator: Simulator, ledger: Path) -> None:
    request = ask(3)
    async with backend_of(simulator, ledger) as first:
        before = await first.complete(request)
    rename(ledger, "batch-of-last-year")
    async with backend_of(simulator, ledger) as second:
        assert (await second.complete(request)).text == before.text
    assert len(BatchLedger(ledger).ids()) == 2
    assert [batch.status for batch in await batches_of(endpoint_of(simulator), ledger, cancel=False)] == ["completed"]


async def test_whoever_asks_after_the_key_was_refused_is_told_so_at_once(ledger: Path) -> None:
    with start(SimulatorConfig()) as simulator:
        gone = endpoint_of(simulator).model_copy(update={"base_url": f"{simulator.base_url}/nowhere"})
        async with BatchBackend(gone, ledger, Batching(linger_s=0.05, poll_s=0.02)) as backend:
            for _ in range(2):
                with pytest.raises(BackendGone, match="base URL"):
                    await backend.complete(ask(0))
