"""Simulated servers in this process, over real HTTP on loopback: a child process for each test would take a second."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import aiohttp
import orjson
import pytest
from aiohttp import web
from multidict import CIMultiDictProxy

from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.server import Server


class Client:
    """Speaks to one server."""

    def __init__(self, session: aiohttp.ClientSession, origin: str, model: str) -> None:
        self.session, self.origin, self.model = session, origin, model

    def body(self, prompt: str, schema: dict[str, Any] | None = None, **fields: Any) -> bytes:
        body = {"model": self.model, "messages": [{"role": "user", "content": prompt}], **fields}
        if schema is not None:
            body["response_format"] = {"type": "json_schema", "json_schema": {"name": "reply", "schema": schema}}
        return orjson.dumps(body)

    async def post(self, path: str, body: bytes) -> tuple[int, CIMultiDictProxy[str], Any]:
        async with self.session.post(f"{self.origin}/{path}", data=body) as response:
            return response.status, response.headers, await response.json()

    async def chat(self, prompt: str, schema: dict[str, Any] | None = None, **fields: Any) -> Any:
        status, _, answer = await self.post("v1/chat/completions", self.body(prompt, schema, **fields))
        assert status == 200, answer
        return answer

    async def text(self, prompt: str, schema: dict[str, Any] | None = None, **fields: Any) -> Any:
        return (await self.chat(prompt, schema, **fields))["choices"][0]["message"]["content"]

    async def statistics(self) -> Any:
        async with self.session.get(f"{self.origin}/control/stats") as response:
            return await response.json()


Serve = Callable[..., Awaitable[Client]]


@pytest.fixture
async def serve() -> AsyncIterator[Serve]:
    """Return a function that starts a server with the given settings and returns a client of it."""
    runners: list[web.AppRunner] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def start(**settings: Any) -> Client:
            config = SimulatorConfig(**settings)
            runner = web.AppRunner(Server(config).application(), handler_cancellation=True, shutdown_timeout=0)
            runners.append(runner)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            return Client(session, f"http://127.0.0.1:{runner.addresses[0][1]}", config.model)

        yield start
    for runner in runners:
        await runner.cleanup()
