"""Stands in for vLLM where replies are needed: its command line, key and metrics around the simulator's answers.

Run as ``simulated_vllm.py STATE_FOLDER --host=.. --port=.. --served-model-name=..``. It adds a line with its pid, port
and GPUs to ``started``. As long as ``stall-PORT`` is there, it takes calls and answers none, and ``/health`` is fine.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

from aiohttp import web

from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.server import Server
from infra.engines.simulator.wire import hang

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def main() -> None:
    state = Path(sys.argv[1])
    given = dict(each.removeprefix("--").split("=", 1) for each in sys.argv if each.startswith("--") and "=" in each)
    host, port = given["host"], int(given["port"])
    with (state / "started").open("a") as started:
        started.write(f"{os.getpid()} {port} {os.environ.get('CUDA_VISIBLE_DEVICES', '')}\n")
    open_calls, served = 0, 0

    @web.middleware
    async def counted(request: web.Request, handler: Handler) -> web.StreamResponse:
        nonlocal open_calls, served
        if not request.path.startswith("/v1/"):
            return await handler(request)
        if request.headers.get("Authorization") != f"Bearer {os.environ['VLLM_API_KEY']}":
            return web.json_response({"error": {"message": "Unauthorized"}}, status=401)
        open_calls += 1
        try:
            if (state / f"stall-{port}").exists():
                await hang()
            answer = await handler(request)
            served += 1
        finally:
            open_calls -= 1
        return answer

    async def metrics(_: web.Request) -> web.Response:
        return web.Response(
            text=f"vllm:num_requests_running {open_calls}\n"
            f"vllm:num_requests_waiting 0\n"
            f"vllm:generation_tokens_total {served}\n"
            f"vllm:request_success_total {served}\n"
        )

    async def serve() -> None:
        config = SimulatorConfig(model=given["served-model-name"], seed=3, latency_ms=200, latency_jitter=0.5)
        application = Server(config).application()
        application.middlewares.append(counted)
        application.router.add_get("/metrics", metrics)
        runner = web.AppRunner(application, access_log=None, handler_cancellation=True, shutdown_timeout=0)
        await runner.setup()
        await web.TCPSite(runner, host, port).start()
        await asyncio.Event().wait()

    asyncio.run(serve())


if __name__ == "__main__":
    main()
