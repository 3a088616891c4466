"""Jobs for the tests: in a module of their own, which workers can import."""

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from infra.llm.connect import Endpoint, connect
from infra.llm.types import Message, Request
from infra.ray.job import WorkerContext
from infra.shards.lease import LeaseHeld
from tasks.concurrency import map_bounded


async def where(context: WorkerContext) -> tuple[str, int]:
    import ray

    return ray.get_runtime_context().get_node_id(), os.getpid()


async def pool_size(context: WorkerContext) -> int:
    return await context.keeper.size()


async def hold(here: Path, context: WorkerContext) -> tuple[str, int]:
    """Write who runs this to ``here`` / "pid", then run until ``here`` / "go" is there."""
    (here / "pid").write_text(str(os.getpid()))
    async with asyncio.timeout(300):  # a test that fails may never give the sign
        while not (here / "go").exists():
            context.progress["turns"] += 1
            await asyncio.sleep(0.01)
    return await where(context)


async def count_one(context: WorkerContext) -> None:
    context.progress["records"] += 1


async def refuse(context: WorkerContext) -> None:
    raise ValueError("shard 7: seed_id 12 twice")


async def find_it_taken(context: WorkerContext) -> None:
    raise LeaseHeld("part-0007: held by process 7 on another host")


async def wait_for_the_sign(context: WorkerContext) -> str:
    await context.stopping.wait()
    return "ended by itself"


async def hear_nothing(here: Path, context: WorkerContext) -> None:
    try:
        (here / "pid").write_text(str(os.getpid()))
        await asyncio.Event().wait()
    finally:
        (here / "flushed").touch()


async def hang(here: Path, context: WorkerContext) -> None:
    (here / "pid").write_text(str(os.getpid()))
    while True:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            continue


@asynccontextmanager
async def client(here: Path) -> AsyncIterator[str]:
    with (here / "log").open("a") as log:
        log.write("open\n")
    yield "client"
    with (here / "log").open("a") as log:
        log.write("close\n")


async def use_client(here: Path, context: WorkerContext) -> str:
    return await context.shared("client", partial(client, here))


async def ask_until(here: Path, number: int, endpoint: Endpoint, context: WorkerContext) -> int:
    """Ask as fast as the limits allow until ``here`` / "end" is there; return how many answers there were."""
    (here / f"pid-{number}").write_text(str(os.getpid()))
    async with connect(endpoint, context.limiter) as backend:

        async def ask(call: int) -> bool:
            if (here / "end").exists():
                return False
            await backend.complete(Request((Message("user", f"Write a note of 30 words: {number}, {call}."),)))
            return True

        return sum(await map_bounded(ask, range(5000), 100))
