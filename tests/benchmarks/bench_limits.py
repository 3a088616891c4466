"""A minute under a token-per-minute limit, with storms: `python -m tests.benchmarks.bench_limits`.

Several clients of one limiter ask the simulator as fast as they are let. Printed: the throughput of each ten seconds
beside the allowed rate, and calls sent for each call answered, in calm and in a minute of storms.
"""

import asyncio
import time

from infra.engines.simulator.config import Fault, SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.llm.connect import Endpoint, connect
from infra.llm.limiter import LocalLimiter
from infra.llm.types import BackendUnavailable, Message, Request, RequestRejected
from tasks.concurrency import map_bounded

PER_S = 4000
CLIENTS = 4
SLICE_S = 10
STORMS: tuple[tuple[str, float, tuple[Fault, ...]], ...] = (
    ("calm", 0.0, ("server_error",)),
    ("30 % 5xx", 0.3, ("server_error", "unavailable")),
    ("429 storm", 0.9, ("rate_limited",)),
    ("hanging, errors in 200", 0.2, ("hang", "error_in_200", "reset")),
    ("calm", 0.0, ("server_error",)),
    ("calm", 0.0, ("server_error",)),
)


async def main() -> None:
    for learned in (False, True):
        print("rate read off the headers" if learned else "rate configured", f"(allowed: {PER_S} tokens/s)")
        with start(SimulatorConfig(latency_ms=200, latency_jitter=0.3, tokens_per_minute=60 * PER_S)) as simulator:
            await minute(simulator, None if learned else 60.0 * PER_S)


async def minute(simulator: Simulator, per_minute: float | None) -> None:
    limiter = LocalLimiter()
    endpoint = Endpoint(
        model=simulator.model,
        base_url=simulator.base_url,
        api_key_env=None,
        max_in_flight=64,
        request_timeout_s=5,
        tokens_per_minute=per_minute,
    )
    clients = [asyncio.create_task(work(endpoint, limiter, number)) for number in range(CLIENTS)]
    for name, share, faults in STORMS:
        await asyncio.to_thread(simulator.set_faults, share, *faults)
        first, began = await asyncio.to_thread(simulator.statistics), time.monotonic()
        await asyncio.sleep(SLICE_S)
        last, seconds = await asyncio.to_thread(simulator.statistics), time.monotonic() - began
        tokens = last.prompt_tokens + last.completion_tokens - first.prompt_tokens - first.completion_tokens
        sent, answered = last.requests - first.requests, last.answers.get("ok", 0) - first.answers.get("ok", 0)
        print(f"  {name:24} {tokens / seconds:8.0f} tokens/s   {sent / max(1, answered):5.2f} calls an answer")
    seen = await asyncio.to_thread(simulator.statistics)
    print(f"  all: {seen.requests / seen.answers['ok']:.2f} calls an answer; {seen.answers}")
    for each in clients:
        each.cancel()
    await asyncio.gather(*clients, return_exceptions=True)


async def work(endpoint: Endpoint, limiter: LocalLimiter, client: int) -> None:
    async with connect(endpoint, limiter) as backend:

        async def ask(call: int) -> None:
            request = Request((Message("user", f"Write a note of 60 words: {client}, {call}. " + "Context. " * 40),))
            try:
                await backend.complete(request)
            except (RequestRejected, BackendUnavailable) as error:
                print(f"    lost: {error}")

        await map_bounded(ask, range(5_000), 64)


if __name__ == "__main__":
    asyncio.run(main())
