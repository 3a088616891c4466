import asyncio

import pytest
from aiohttp import web

from infra.llm.fake import FakeBackend
from infra.llm.limits import AdaptiveLimit
from infra.llm.queue_watch import QueueWatch, is_full


def metrics(running: int, waiting: int, cache: float = 0.5) -> str:
    return (
        "# TYPE vllm:num_requests_running gauge\n"
        f'vllm:num_requests_running{{engine="0"}} {running}\n'
        "# TYPE vllm:num_requests_waiting gauge\n"
        f'vllm:num_requests_waiting{{engine="0"}} {waiting}\n'
        "# TYPE vllm:kv_cache_usage_perc gauge\n"
        f'vllm:kv_cache_usage_perc{{engine="0"}} {cache}\n'
    )


@pytest.mark.parametrize(
    ("text", "full"),
    [
        (metrics(8, 2), False),
        (metrics(8, 3), True),
        (metrics(0, 1), True),
        (metrics(8, 0, cache=0.96), True),
        (metrics(0, 0, cache=0.96), False),  # what is cached and not in use is no load
        ("# TYPE other gauge\nother 9\n", False),
        ("", False),
    ],
)
def test_a_long_queue_or_a_full_cache_is_too_much(text: str, full: bool) -> None:
    assert is_full(text) is full


async def watched(answer: web.Response, looks: int) -> tuple[AdaptiveLimit, int]:
    """Watch a server that answers ``answer`` at /metrics until it was asked ``looks`` times, or for a while."""
    asked = 0

    async def handler(_: web.Request) -> web.Response:
        nonlocal asked
        asked += 1
        return web.Response(text=answer.text, status=answer.status)

    app = web.Application()
    app.router.add_get("/metrics", handler)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    limit = AdaptiveLimit(64)
    try:
        async with QueueWatch(FakeBackend(lambda _: "yes"), limit, f"{site.name}/v1", poll_s=0.01):
            for _ in range(100):
                if asked >= looks:
                    break
                await asyncio.sleep(0.01)
    finally:
        await runner.cleanup()
    return limit, asked


async def test_the_limit_narrows_while_the_server_is_full() -> None:
    limit, _ = await watched(web.Response(text=metrics(8, 20)), looks=4)
    assert limit.current <= 64 * 0.75**3


async def test_a_server_with_room_is_left_alone() -> None:
    limit, _ = await watched(web.Response(text=metrics(8, 0)), looks=4)
    assert limit.current == 64


@pytest.mark.parametrize(("text", "status"), [("", 404), ("<html>One moment, please.</html>", 200)])
async def test_a_server_without_metrics_is_asked_once(text: str, status: int) -> None:
    limit, asked = await watched(web.Response(text=text, status=status), looks=3)
    assert (limit.current, asked) == (64, 1)
