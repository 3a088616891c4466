import asyncio
import time
from typing import Any

import pytest

from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import start
from infra.llm.connect import Endpoint, connect
from infra.llm.limiter import CALM_S, Demand, Grant, LimiterUnavailable, LocalLimiter, Terms
from infra.llm.openai_api import OpenAIBackend
from infra.llm.shared_limit import SharedLimit
from infra.llm.types import BackendGone, BackendUnavailable, Message, Request
from tasks.concurrency import map_bounded
from tests.infra.llm.rates import fastest


def ask(number: int) -> Request:
    return Request((Message("user", f"Write a note of 30 words, number {number}."),))


def client_of(base_url: str, limiter: LocalLimiter, **changes: Any) -> OpenAIBackend:
    fields = {"model": "simulator", "base_url": base_url, "api_key_env": None, "max_in_flight": 16}
    backend = connect(Endpoint(**fields | changes), limiter)
    assert isinstance(backend, OpenAIBackend)
    return backend


async def test_three_clients_never_have_more_open_than_one_may() -> None:
    limiter = LocalLimiter()
    with start(SimulatorConfig(latency_ms=30)) as simulator:
        clients = [client_of(simulator.base_url, limiter) for _ in range(3)]

        async def work(client: OpenAIBackend) -> None:
            async with client:
                await map_bounded(lambda number: client.complete(ask(number)), range(60), 60)

        await asyncio.gather(*[work(client) for client in clients])
        seen = simulator.statistics()
    assert seen.answers == {"ok": 180}
    assert 12 <= seen.peak <= 16


class Counted(LocalLimiter):
    visits = 0

    async def exchange(self, server: str, terms: Terms, demand: Demand) -> Grant:
        self.visits += 1
        return await super().exchange(server, terms, demand)


async def test_one_call_after_the_other_needs_no_visit_each() -> None:
    limiter = Counted()
    with start(SimulatorConfig()) as simulator:
        began = time.monotonic()
        async with client_of(simulator.base_url, limiter) as client:
            for number in range(50):
                await client.complete(ask(number))
    assert limiter.visits <= 3 + (time.monotonic() - began) / CALM_S


async def test_a_revoked_key_stops_all_clients_after_a_handful_of_calls() -> None:
    limiter = LocalLimiter()
    with start(SimulatorConfig(latency_ms=5)) as simulator:
        clients = [client_of(simulator.base_url, limiter) for _ in range(2)]

        async def work(client: OpenAIBackend) -> None:
            async with client:
                await map_bounded(lambda number: client.complete(ask(number)), range(10_000), 200)

        running = [asyncio.create_task(work(client)) for client in clients]
        await asyncio.sleep(0.5)
        await asyncio.to_thread(simulator.set_faults, 1.0, "key_revoked")
        errors = await asyncio.gather(*running, return_exceptions=True)
        refused = simulator.statistics().answers["key_revoked"]
    assert {str(error) for error in errors} == {"simulator: HTTP 401: the key is wrong (Incorrect API key provided.)"}
    assert all(isinstance(error, BackendGone) for error in errors)
    assert refused <= 3 * 16


class Mortal:
    """A limiter that can die, as an actor does: its books are gone, and for a while nobody answers."""

    def __init__(self) -> None:
        self.alive: LocalLimiter | None = LocalLimiter()

    async def exchange(self, server: str, terms: Terms, demand: Demand) -> Grant:
        if self.alive is None:
            raise LimiterUnavailable("dead")
        return await self.alive.exchange(server, terms, demand)


async def test_calls_go_on_when_the_limiter_dies_and_comes_back_without_its_books() -> None:
    limiter = Mortal()
    with start(SimulatorConfig(latency_ms=20)) as simulator:
        async with client_of(simulator.base_url, limiter) as client:  # type: ignore[arg-type]
            work = asyncio.create_task(map_bounded(lambda number: client.complete(ask(number)), range(400), 100))
            await asyncio.sleep(0.1)
            limiter.alive = None
            await asyncio.sleep(0.3)
            limiter.alive = LocalLimiter()
            assert len(await work) == 400
        assert simulator.statistics().peak <= 16


async def test_who_waits_for_a_limiter_that_never_comes_back_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("infra.llm.shared_limit.LIMITER_AGAIN_S", 0.01)
    monkeypatch.setattr("infra.llm.shared_limit.LIMITER_WITHIN_S", 0.05)
    limiter = Mortal()
    limiter.alive = None
    limit = SharedLimit(limiter, "here m", Terms(4))
    await limit.open()
    with pytest.raises(BackendUnavailable, match="here m: no limiter for"):
        await asyncio.wait_for(limit.enter(10), 5)
    await limit.close()


async def test_tokens_a_minute_are_kept_and_used_up() -> None:
    """Scaled down: 1,500 tokens a second, for four seconds."""
    limiter = LocalLimiter()
    per_s = 1500
    with start(SimulatorConfig(latency_ms=50, tokens_per_minute=60 * per_s)) as simulator:
        clients = [client_of(simulator.base_url, limiter, tokens_per_minute=60 * per_s) for _ in range(3)]

        async def work(client: OpenAIBackend) -> None:
            async with client:
                await map_bounded(lambda number: client.complete(ask(number)), range(10_000), 100)

        running = [asyncio.create_task(work(client)) for client in clients]
        await asyncio.sleep(1.5)
        rate = await asyncio.to_thread(fastest, simulator, per_s)
        seen = await asyncio.to_thread(simulator.statistics)
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)
    assert rate == pytest.approx(per_s, rel=0.1)
    assert set(seen.answers) == {"ok"}
