"""What a worker says its jobs wait for; no Ray is needed to know."""

import asyncio
import inspect
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest

from infra.llm import limiter
from infra.llm.fake import FakeBackend
from infra.llm.limiter import Demand, Grant, LocalLimiter, Terms
from infra.llm.limits import AdaptiveLimit
from infra.llm.retry import CallCounters, Retrier, RetryPolicy, TransientFailure
from infra.llm.shared_limit import SharedLimit
from infra.llm.types import Message, Reply, Request, RequestRejected, Usage
from infra.ray.job import Shared
from infra.ray.keeper import F32, LocalKeeper
from infra.ray.watched import WatchedBackend, WatchedKeeper, WatchedLimiter, WatchedShared
from infra.ray.watching import WORDS, JobWatch, Watching
from infra.run_state import Waits
from tasks.diversity.pool import Reservoir

ASK = (Message("user", "How old?"),)


class Gate:
    """A model that answers, and embeds, once it is let go."""

    model, dimension = "gate", 2

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def complete(self, request: Request) -> Reply:
        await self.open.wait()
        return Reply("40", "stop", Usage(100, 0, 20, 0), self.model, latency_s=0.2)


class Vectors:
    model, dimension = "vectors", 2

    def __init__(self) -> None:
        self.open = asyncio.Event()

    async def embed(self, texts: list[str]) -> F32:
        await self.open.wait()
        return np.ones((len(texts), 2), dtype=np.float32)


@asynccontextmanager
async def opened(thing: Any) -> AsyncIterator[Any]:
    yield thing


def asking(step: str) -> Request:
    return Request(ASK, tags={"step": step, "record_id": "secret-7"})


async def begun(watching: Watching, name: str = "part-0", **counters: int) -> tuple[JobWatch, WatchedShared]:
    job = watching.begin(name, Counter(counters))
    return job, WatchedShared(Shared(), job, watching)


async def test_calls_and_embeddings_are_waited_for_until_they_are_answered() -> None:
    watching, gate, vectors = Watching(), Gate(), Vectors()
    _, shared = await begun(watching)
    backend = await shared.get("gate", lambda: opened(gate))
    embedder = await shared.get("vectors", lambda: opened(vectors))
    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(backend.complete(asking("draft")))
        group.create_task(embedder.embed(["text"]))
        await asyncio.sleep(0)
        assert watching.look().waits == {"engine": 3, "embedding": 1}
        await asyncio.sleep(0.05)
        assert 0.05 <= watching.look().oldest_s < 60
        gate.open.set()
        vectors.open.set()
    assert (watching.look().waits, watching.look().oldest_s) == ({"disk": 1}, 0.0)


async def test_the_same_request_may_be_asked_twice_at_once() -> None:
    watching, gate = Watching(), Gate()
    backend, request = WatchedBackend(gate, watching.begin("part-0", Counter()), watching), asking("draft")
    async with asyncio.TaskGroup() as group:
        for _ in range(2):
            group.create_task(backend.complete(request))
        await asyncio.sleep(0)
        gate.open.set()
    assert (watching.look().waits, watching.look().oldest_s) == ({"disk": 1}, 0.0)


async def test_a_job_with_nothing_open_has_either_not_begun_or_is_being_written() -> None:
    watching = Watching()
    _, shared = await begun(watching)
    assert watching.look().waits == {"start": 1}
    backend = await shared.get("fake", lambda: opened(FakeBackend(lambda _: "40")))
    await backend.complete(asking("draft"))
    assert watching.look().waits == {"disk": 1}
    watching.end("part-0", well=True)
    assert watching.look().waits == {}


async def test_answers_are_counted_by_the_kind_of_their_step() -> None:
    watching, gate = Watching(), Gate()
    gate.open.set()
    _, shared = await begun(watching)
    backend = await shared.get("gate", lambda: opened(gate))
    for step in ("revise-0", "revise-1", "draft"):
        await backend.complete(asking(step))
    look = watching.look()
    assert {(step.step, step.model, step.seconds.count) for step in look.steps} == {
        ("revise", "gate", 2),
        ("draft", "gate", 1),
    }
    revise = next(step for step in look.steps if step.step == "revise")
    assert (revise.prompt.total, revise.completion.total) == (200, 40)
    assert revise.answering.total == pytest.approx(0.4)
    assert "secret-7" not in look.model_dump_json()


async def test_a_call_that_fails_is_waited_for_no_more_and_counts_as_no_answer() -> None:
    def refuse(_: Request) -> str:
        raise RequestRejected("too long")

    watching = Watching()
    job = watching.begin("part-0", Counter())
    with pytest.raises(RequestRejected):
        await WatchedBackend(FakeBackend(refuse), job, watching).complete(asking("draft"))
    look = watching.look()
    assert (look.waits, look.steps) == ({"disk": 1}, ())


async def test_what_jobs_have_counted_stays_if_they_end_well() -> None:
    watching = Watching()
    for name, well in (("part-0", True), ("part-1", False)):
        await begun(watching, name, records=5)
        assert [job.counters for job in watching.look().jobs] == [{"records": 5}]
        watching.end(name, well=well)
    assert (watching.look().finished, watching.look().jobs) == ({"records": 5}, ())


class SlowReservoir(LocalKeeper):
    """A keeper that takes its time."""

    async def sample(self, n: int, seed: int) -> F32:
        await asyncio.sleep(0.01)
        return await super().sample(n, seed)


async def test_the_keeper_is_waited_for() -> None:
    watching = Watching()
    job = watching.begin("part-0", Counter())
    keeper = WatchedKeeper(SlowReservoir(Reservoir(seed=1)), job)
    visit = asyncio.create_task(keeper.sample(1, 0))
    await asyncio.sleep(0)
    assert watching.look().waits == {"pool": 1}
    await visit
    assert watching.look().waits == {"start": 1}


async def test_calls_beyond_the_places_of_a_server_wait_in_its_queue() -> None:
    watching, gate = Watching(), Gate()
    job = watching.begin("part-0", Counter())
    limit = SharedLimit(WatchedLimiter(LocalLimiter(), watching), "http://me:pass@there/v1 gate", Terms(ceiling=2))

    class Limited(FakeBackend):
        async def complete(self, request: Request) -> Reply:
            await limit.enter(10)
            try:
                return await gate.complete(request)
            finally:
                limit.leave(10, 10)

    await limit.open()
    backend = WatchedBackend(Limited(lambda _: "", "gate"), job, watching)
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(backend.complete(asking("draft")))
        await seen(watching, {"engine": 2, "engine queue": 3})
        (server,) = watching.look().servers
        assert (server.server, server.open, server.waiting, server.width) == ("http://there/v1 gate", 2, 3, 2)
        gate.open.set()
    await limit.close()


async def seen(watching: Watching, waits: dict[Waits, int]) -> None:
    """Wait until it says so: the limiter is visited a few times a second."""
    async with asyncio.timeout(20):
        while watching.look().waits != waits:  # noqa: ASYNC110 - nothing tells when the limiter was visited
            await asyncio.sleep(0.02)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("the rate limit", "rate limit"),
        ("the server's pause", "rate limit"),
        ("a server that is down", "server down"),
        ("a free place", "engine queue"),
    ],
)
def test_the_limiters_words_are_told_apart(words: str, reason: Waits) -> None:
    watching = Watching()
    job = watching.begin("part-0", Counter())
    job.asking["gpt"] = 10
    watching.note_visit("OpenAI gpt", Demand("c", open=4, waiting=5), Grant(4, 0, 1.0, words))
    assert watching.look().waits == {"engine": 4, reason: 5, "next try": 1}


def test_calls_that_nothing_keeps_have_gone_to_the_engine() -> None:
    watching = Watching()
    watching.begin("part-0", Counter()).asking["gpt"] = 9
    watching.note_visit("OpenAI gpt", Demand("c", open=4, waiting=5), Grant(16, 9, 1.0))
    assert watching.look().waits == {"engine": 9}


def test_a_view_of_the_limiter_that_is_older_than_the_calls_never_makes_more_of_them() -> None:
    watching = Watching()
    watching.begin("part-0", Counter()).asking["gpt"] = 3
    watching.note_visit("OpenAI gpt", Demand("c", open=4, waiting=5), Grant(4, 0, 1.0, "a free place"))
    assert watching.look().waits == {"engine queue": 3}


async def test_failed_tries_are_told_by_kind_for_clients_that_count_them() -> None:
    tries = iter([TransientFailure("http_503", "down"), TransientFailure("timeout", "slow"), None])

    async def send() -> str:
        if (failure := next(tries)) is not None:
            raise failure
        return "40"

    class Client(FakeBackend):
        retrier = Retrier("fake", RetryPolicy(base_s=0.0), AdaptiveLimit(1))

        @property
        def counters(self) -> CallCounters:
            return self.retrier.counters

    watching = Watching()
    for name in ("part-0", "part-1"):  # two jobs share the client: its failures are told once
        _, shared = await begun(watching, name)
        await shared.get("client", lambda: opened(Client(lambda _: "")))
    assert await Client.retrier.call(send) == "40"
    assert watching.look().failures == {"fake": {"http_503": 1, "timeout": 1}}


async def test_failures_of_servers_that_come_later_are_told_and_of_those_that_go_kept() -> None:
    class Following(FakeBackend):
        counters: tuple[CallCounters, ...] = ()

    first, later = CallCounters(failures=Counter(timeout=2)), CallCounters(failures=Counter(timeout=3))
    client, watching = Following(lambda _: ""), Watching()
    client.counters = (first,)
    _, shared = await begun(watching)
    await shared.get("client", lambda: opened(client))
    assert watching.look().failures == {"fake": {"timeout": 2}}
    client.counters = (later,)
    assert watching.look().failures == {"fake": {"timeout": 5}}


async def test_what_is_no_model_is_handed_on_as_it_is() -> None:
    _, shared = await begun(Watching())
    assert await shared.get("client", lambda: opened("client")) == "client"


def test_the_words_that_are_told_apart_are_those_of_the_limiter() -> None:
    assert all(f'"{words}"' in inspect.getsource(limiter) for words in WORDS)


async def test_watching_costs_a_call_less_than_fifty_microseconds() -> None:
    """About three on an idle core; the best of many short rounds, so that a busy machine does not count."""
    watching, gate = Watching(), Gate()
    gate.open.set()
    job = watching.begin("part-0", Counter())
    backend, request = WatchedBackend(gate, job, watching), asking("revise-3")

    async def cpu_s(ask: Callable[[Request], Awaitable[Reply]], rounds: int = 200) -> float:
        began = time.thread_time()
        for _ in range(rounds):
            await ask(request)
        return (time.thread_time() - began) / rounds

    bare = min([await cpu_s(gate.complete) for _ in range(10)])
    watched = min([await cpu_s(backend.complete) for _ in range(10)])
    assert watched - bare < 50e-6
