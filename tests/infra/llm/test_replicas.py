import asyncio
import time
from collections import Counter
from collections.abc import Callable, Sequence

import pytest

from infra.llm.fake import FakeBackend
from infra.llm.replicas import ReplicatedBackend
from infra.llm.retry import CallCounters
from infra.llm.types import Backend, BackendUnavailable, Message, Reply, Request, RequestRejected


def ask(record: str) -> Request:
    return Request((Message("user", "Hi"),), tags={"record_id": record})


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def replicated_of(
    backends: Sequence[Backend], *, patience_s: float, clock: Callable[[], float] = time.monotonic
) -> ReplicatedBackend:
    named = {f"server {i}": backend for i, backend in enumerate(backends)}
    return ReplicatedBackend("m", named, patience_s=patience_s, clock=clock)


async def test_a_record_stays_on_its_replica_and_records_are_spread() -> None:
    gate = asyncio.Event()

    class Slow(FakeBackend):
        async def complete(self, request: Request) -> Reply:
            await gate.wait()
            return await super().complete(request)

    backends = [Slow(lambda _: "yes") for _ in range(3)]
    async with replicated_of(backends, patience_s=1) as replicated:
        calls = [asyncio.create_task(replicated.complete(ask(f"r{i}"))) for i in range(9)]
        await asyncio.sleep(0)
        gate.set()
        await asyncio.gather(*calls)
        assert [len(each.requests) for each in backends] == [3, 3, 3]
        for _ in range(4):
            await replicated.complete(ask("r4"))
    of_r4 = [Counter(request.tags["record_id"] for request in each.requests)["r4"] for each in backends]
    assert sorted(of_r4) == [0, 0, 5]


async def test_a_dead_replica_is_left_out_and_asked_again_later() -> None:
    clock = Clock()
    dead = True
    flaky = FakeBackend(lambda _: BackendUnavailable("gone") if dead else "back")
    steady = FakeBackend(lambda _: "yes")
    async with replicated_of([flaky, steady], patience_s=60, clock=clock) as replicated:
        assert [(await replicated.complete(ask(f"r{i}"))).text for i in range(4)] == ["yes"] * 4
        assert len(flaky.requests) == 1
        dead = False
        clock.now = 5.0
        assert (await replicated.complete(ask("new"))).text == "back"


async def test_when_none_answers_the_call_ends_with_the_patience() -> None:
    clock = Clock()
    backends = [FakeBackend(lambda _: BackendUnavailable("gone")) for _ in range(2)]
    async with replicated_of(backends, patience_s=3, clock=clock) as replicated:
        with pytest.raises(BackendUnavailable, match=r"none of 2 replicas has answered for 3 s"):
            await replicated.complete(ask("r"))
    assert [len(each.requests) for each in backends] == [1, 1]


async def test_a_rejected_request_is_not_sent_to_the_others() -> None:
    backends = [FakeBackend(lambda _: RequestRejected("too long")) for _ in range(2)]
    async with replicated_of(backends, patience_s=3) as replicated:
        with pytest.raises(RequestRejected, match="too long"):
            await replicated.complete(ask("r"))
    assert sum(len(each.requests) for each in backends) == 1


async def test_the_tries_of_each_replica_can_be_read() -> None:
    class Counting(FakeBackend):
        counters = CallCounters(sent=3)

    replicated = replicated_of([Counting(lambda _: "yes"), FakeBackend(lambda _: "yes")], patience_s=1)
    assert [counters.sent for counters in replicated.counters] == [3]


class Hanging(FakeBackend):
    """Takes calls and answers none, as a machine does whose power is gone."""

    async def complete(self, request: Request) -> Reply:
        self.requests.append(request)
        await asyncio.Event().wait()
        raise AssertionError("never")


async def test_the_calls_of_a_replica_that_is_removed_go_to_the_others_at_once() -> None:
    lost, other = Hanging(lambda _: "no"), FakeBackend(lambda _: "yes")
    async with replicated_of([lost], patience_s=60) as replicated:
        calls = [asyncio.create_task(replicated.complete(ask(f"r{i}"))) for i in range(3)]
        await asyncio.sleep(0.01)
        assert len(lost.requests) == 3
        await replicated.add("another", other)
        await replicated.remove("server 0")
        replies = await asyncio.wait_for(asyncio.gather(*calls), 5)
    assert [reply.text for reply in replies] == ["yes"] * 3


async def test_a_call_that_is_cancelled_itself_is_not_sent_to_the_others() -> None:
    lost, other = Hanging(lambda _: "no"), FakeBackend(lambda _: "yes")
    async with replicated_of([lost], patience_s=60) as replicated:
        call = asyncio.create_task(replicated.complete(ask("r")))
        await asyncio.sleep(0.01)
        await replicated.add("another", other)
        call.cancel()
        await replicated.remove("server 0")
        with pytest.raises(asyncio.CancelledError):
            await call
    assert other.requests == []


async def test_without_any_replica_a_call_waits_for_one() -> None:
    async with replicated_of([], patience_s=60) as replicated:
        call = asyncio.create_task(replicated.complete(ask("r")))
        await asyncio.sleep(0.01)
        await replicated.add("first", FakeBackend(lambda _: "yes"))
        assert (await asyncio.wait_for(call, 5)).text == "yes"
