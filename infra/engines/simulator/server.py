"""The HTTP side: routes, and control for test harnesses."""

import asyncio
import math
import time

import orjson
from aiohttp import web
from pydantic import ValidationError

from infra.engines.simulator import wire
from infra.engines.simulator.batches import Batches
from infra.engines.simulator.chat import ChatBody, answer_chat
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.counters import Call, Counters
from infra.engines.simulator.embeddings import EmbeddingBody, answer_embeddings
from infra.engines.simulator.faults import FaultPlan, body_key, latency_s
from infra.engines.simulator.limits import RateLimits
from infra.engines.simulator.scalars import UnsupportedSchema

_BODY_LIMIT_BYTES = 64 << 20

Body = ChatBody | EmbeddingBody


class Server:
    """One simulated server."""

    def __init__(self, config: SimulatorConfig) -> None:
        self._config = config
        self._plan = FaultPlan(config)
        self._limits = RateLimits(config, time.monotonic)
        self._counters = Counters()
        self._batches = Batches(config, self._counters)

    def application(self) -> web.Application:
        """Return the routes."""
        application = web.Application(client_max_size=_BODY_LIMIT_BYTES)
        application.add_routes(
            [
                web.post("/v1/chat/completions", self._chat),
                web.post("/v1/embeddings", self._embeddings),
                *self._batches.routes(),
                web.get("/v1/models", self._models),
                web.get("/health", self._health),
                web.get("/control/stats", self._statistics),
                web.get("/control/wait", self._wait),
                web.post("/control/reset", self._reset),
                web.post("/control/faults", self._faults),
            ]
        )
        return application

    # --- the OpenAI protocol ---

    async def _chat(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, ChatBody)

    async def _embeddings(self, request: web.Request) -> web.StreamResponse:
        return await self._serve(request, EmbeddingBody)

    async def _serve(self, request: web.Request, kind: type[Body]) -> web.StreamResponse:
        raw = await request.read()
        key = body_key(raw)
        with self._counters.call(key) as call:
            try:
                body = kind.model_validate_json(raw)
                if rejection := self._rejection(body):
                    call.answered("rejected")
                    return rejection
                return await self._answer(request, body, key, call)
            except ValidationError as error:
                call.answered("rejected")
                return wire.error(400, "invalid_request_error", wire.complaint(error))
            except UnsupportedSchema as error:
                call.answered("rejected")
                return wire.error(400, "invalid_json_schema", str(error))

    def _rejection(self, body: Body) -> web.Response | None:
        model, dimension = self._config.model, self._config.dimension
        if body.model != model:
            return wire.error(404, "model_not_found", f"The model {body.model!r} is not served here, {model!r} is.")
        if isinstance(body, EmbeddingBody) and body.dimensions not in (None, dimension):
            message = f"dimensions: {body.dimensions} is not served here, {dimension} is."
            return wire.error(400, "invalid_request_error", message)
        return None

    async def _answer(self, request: web.Request, body: Body, key: int, call: Call) -> web.StreamResponse:
        if (wait_s := self._limits.admit(body.prompt_tokens)) > 0:
            call.answered("over_limit")
            headers = {"Retry-After": str(math.ceil(wait_s)), **self._limits.headers()}
            return wire.error(429, "rate_limit_exceeded", f"Rate limit reached, try again in {wait_s:.3f}s.", headers)
        fault, rng = self._plan.draw(body.asked, key, call.attempt)
        if fault == "hang":
            call.answered(fault)
            await wire.hang()  # ends by cancellation
        if self._config.latency_ms:
            await asyncio.sleep(latency_s(self._config, rng))
        if fault is not None and fault in wire.ERRORS:
            call.answered(fault)
            return wire.ERRORS[fault]()
        if fault == "reset" and rng.random() < 0.5:
            call.answered(fault)
            return wire.refuse(request)
        if isinstance(body, ChatBody):
            answer = answer_chat(body, key, self._config.seed, fault, rng)
        else:
            answer = answer_embeddings(body, self._config.dimension, self._config.seed)
        self._limits.charge(answer["usage"].get("completion_tokens", 0))
        if fault == "reset":
            call.answered(fault)
            return await wire.break_off(request, orjson.dumps(answer))
        call.answered(fault or "ok", answer["usage"])
        return wire.success(answer, self._limits.headers())

    async def _models(self, _: web.Request) -> web.Response:
        model = {"id": self._config.model, "object": "model", "created": 0, "owned_by": "simulator"}
        return wire.success({"object": "list", "data": [model]})

    # --- control ---

    async def _health(self, _: web.Request) -> web.Response:
        return wire.success({"status": "ok"})

    async def _statistics(self, _: web.Request) -> web.Response:
        return wire.success(self._counters.statistics().model_dump())

    async def _wait(self, request: web.Request) -> web.Response:
        """Answer when as many calls have arrived as the query asks for: the moment to kill a client at."""
        number = request.query.get("requests", "")
        if not number.isdecimal():
            return wire.error(400, "invalid_request_error", f"requests={number!r}: give a whole number")
        await self._counters.arrival_of(int(number))
        return wire.success({"requests": int(number)})

    async def _reset(self, _: web.Request) -> web.Response:
        self._counters = Counters()  # calls that are open go on counting where they arrived
        self._batches.counters = self._counters
        return wire.success({"status": "reset"})

    async def _faults(self, request: web.Request) -> web.Response:
        """Change what goes wrong from now on: a storm begins, or ends."""
        asked = orjson.loads(await request.read())
        try:
            config = SimulatorConfig.model_validate(self._config.model_dump() | asked)
        except ValidationError as error:
            return wire.error(400, "invalid_request_error", wire.complaint(error))
        self._plan = FaultPlan(config)
        return wire.success({"fault_rate": config.fault_rate, "faults": config.faults})
