"""The Batch API as a paid server has it: files of requests, batches of them, results in files."""

import asyncio
import itertools
from dataclasses import dataclass, field
from typing import Any

import orjson
from aiohttp import web
from pydantic import ValidationError

from infra.engines.simulator import wire
from infra.engines.simulator.chat import ChatBody, answer_chat
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.counters import Counters
from infra.engines.simulator.faults import FaultPlan, body_key
from infra.engines.simulator.scalars import UnsupportedSchema

_URL = "/v1/chat/completions"


@dataclass
class _Batch:
    id: str
    lines: list[dict[str, Any]]
    metadata: dict[str, str]
    status: str = "in_progress"
    output: list[bytes] = field(default_factory=list)
    errors: list[bytes] = field(default_factory=list)
    faults: list[dict[str, str]] = field(default_factory=list)

    def fields(self) -> dict[str, Any]:
        over = self.status in ("completed", "expired", "cancelled")
        return {
            "id": self.id,
            "object": "batch",
            "endpoint": _URL,
            "status": self.status,
            "metadata": self.metadata,
            "errors": {"object": "list", "data": self.faults} if self.faults else None,
            "output_file_id": f"{self.id}-output" if over and self.output else None,
            "error_file_id": f"{self.id}-errors" if over and self.errors else None,
            "request_counts": {
                "total": len(self.lines),
                "completed": len(self.output),
                "failed": len(self.errors),
            },
        }


class Batches:
    """All files and batches of one server, in memory.

    Attributes:
        counters: where their calls are counted; replaced when the server is reset.
    """

    def __init__(self, config: SimulatorConfig, counters: Counters) -> None:
        self.counters = counters
        self._config = config
        self._plan = FaultPlan(config)
        self._files: dict[str, bytes] = {}
        self._batches: dict[str, _Batch] = {}
        self._numbers = itertools.count(1)
        self._running: set[asyncio.Task[None]] = set()

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [
            web.post("/v1/files", self._upload),
            web.get("/v1/files/{id}/content", self._content),
            web.post("/v1/batches", self._make),
            web.get("/v1/batches", self._list),
            web.get("/v1/batches/{id}", self._look),
            web.post("/v1/batches/{id}/cancel", self._cancel),
        ]

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form.get("file")
        if form.get("purpose") != "batch" or not isinstance(file, web.FileField):
            return wire.error(400, "invalid_request_error", "give a file, and purpose batch")
        name = f"file-{next(self._numbers)}"
        self._files[name] = file.file.read()
        return wire.success({"id": name, "object": "file", "purpose": "batch"})

    async def _content(self, request: web.Request) -> web.Response:
        name = request.match_info["id"]
        if name not in self._files:
            return wire.error(404, "not_found", f"No such file: {name}")
        return web.Response(body=self._files[name], content_type="application/octet-stream")

    async def _make(self, request: web.Request) -> web.Response:
        asked = orjson.loads(await request.read())
        data = self._files.get(asked.get("input_file_id", ""))
        if data is None:
            return wire.error(400, "invalid_request_error", "input_file_id: no such file")
        lines = [orjson.loads(line) for line in data.splitlines() if line.strip()]
        batch = _Batch(f"batch-{next(self._numbers)}", lines, asked.get("metadata") or {})
        self._batches[batch.id] = batch
        names = [line.get("custom_id") for line in lines]
        if len(set(names)) < len(names):
            batch.status = "failed"
            batch.faults.append({"code": "duplicate_custom_id", "message": "a custom_id stands twice"})
        else:
            task = asyncio.create_task(self._run(batch))
            self._running.add(task)
            task.add_done_callback(self._running.discard)
        return wire.success(batch.fields())

    async def _list(self, request: web.Request) -> web.Response:
        newest_first = list(self._batches.values())[::-1]
        if after := request.query.get("after"):
            newest_first = newest_first[[batch.id for batch in newest_first].index(after) + 1 :]
        limit = int(request.query.get("limit", "20"))
        page = [batch.fields() for batch in newest_first[:limit]]
        return wire.success({"object": "list", "data": page, "has_more": len(newest_first) > limit})

    async def _look(self, request: web.Request) -> web.Response:
        batch = self._batches.get(request.match_info["id"])
        return wire.error(404, "not_found", "No such batch.") if batch is None else wire.success(batch.fields())

    async def _cancel(self, request: web.Request) -> web.Response:
        batch = self._batches.get(request.match_info["id"])
        if batch is None:
            return wire.error(404, "not_found", "No such batch.")
        if batch.status == "in_progress":
            batch.status = "cancelling"
        return wire.success(batch.fields())

    async def _run(self, batch: _Batch) -> None:
        """Answer the requests one after the other; a batch that is cancelled or runs out of time keeps what it has."""
        each_s = self._config.batch_s / max(1, len(batch.lines))
        most = len(batch.lines) - int(self._config.batch_expiry * len(batch.lines))
        for line in batch.lines[:most]:
            await asyncio.sleep(each_s)
            if batch.status == "cancelling":
                break
            self._answer(batch, line)
        ends = {"cancelling": "cancelled", "in_progress": "expired" if most < len(batch.lines) else "completed"}
        self._files[f"{batch.id}-output"] = b"\n".join(batch.output[::-1])  # the order is nobody's business
        self._files[f"{batch.id}-errors"] = b"\n".join(batch.errors)
        batch.status = ends[batch.status]

    def _answer(self, batch: _Batch, line: dict[str, Any]) -> None:
        raw = orjson.dumps(line["body"])
        key = body_key(raw)
        status, answer = 200, {}
        with self.counters.call(key) as call:
            try:
                body = ChatBody.model_validate_json(raw)
                fault, rng = self._plan.draw(body.asked, key, call.attempt)
                if fault is not None and fault in (*wire.ERRORS, "hang", "reset"):
                    status, answer = 500, {"error": {"message": "The server had an error.", "code": "server_error"}}
                    call.answered(fault)
                else:
                    answer = answer_chat(body, key, self._config.seed, fault, rng)
                    call.answered(fault or "ok", answer["usage"])
            except (ValidationError, UnsupportedSchema) as error:
                status, answer = 400, {"error": {"message": str(error), "code": "invalid_request_error"}}
                call.answered("rejected")
        result = {
            "id": f"{batch.id}-{line['custom_id']}",
            "custom_id": line["custom_id"],
            "response": {"status_code": status, "body": answer},
            "error": None,
        }
        (batch.output if status == 200 else batch.errors).append(orjson.dumps(result))
