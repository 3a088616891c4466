"""A provider that turns batches away, or answers with what is no JSON: something that the simulator never does."""

from pathlib import Path
from typing import Any

import orjson
import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from infra.llm.batch_ledger import BatchLedger
from infra.llm.connect import Batching, Endpoint
from infra.llm.openai_batch import MOST_TRIES, BatchBackend
from infra.llm.types import BackendUnavailable, Message, Request

FULL = {"data": [{"code": "token_limit_exceeded", "message": "Enqueued token limit reached."}]}
ANSWER = {
    "choices": [{"message": {"role": "assistant", "content": "Here."}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 2},
}


class Provider:
    """Turns away the first batches, as many as ``full``, because of ``errors``."""

    def __init__(self, full: int, errors: dict[str, Any] = FULL) -> None:
        self.full, self.errors = full, errors
        self.files, self.batches = list[bytes](), list[dict[str, Any]]()
        self.garbled = 0  # listings to come that are no JSON

    def application(self) -> web.Application:
        application = web.Application()
        application.add_routes(
            [
                web.post("/v1/files", self.upload),
                web.post("/v1/batches", self.make),
                web.get("/v1/batches", self.listed),
                web.get("/v1/batches/{id}", self.look),
                web.get("/v1/files/{id}/content", self.content),
            ]
        )
        return application

    async def upload(self, request: web.Request) -> web.Response:
        file = (await request.post())["file"]
        assert isinstance(file, web.FileField)
        self.files.append(file.file.read())
        return web.json_response({"id": str(len(self.files) - 1)})

    async def make(self, request: web.Request) -> web.Response:
        batch = await request.json() | {"id": str(len(self.batches))}
        is_full = len(self.batches) < self.full
        batch |= (
            {"status": "failed", "errors": self.errors} if is_full else {"status": "completed", "output_file_id": "out"}
        )
        self.batches.append(batch)
        return web.json_response(batch)

    async def listed(self, request: web.Request) -> web.Response:
        if self.garbled:
            self.garbled -= 1
            return web.Response(text="<html>One moment, please.</html>")
        return web.json_response({"data": self.batches, "has_more": False})

    async def look(self, request: web.Request) -> web.Response:
        return web.json_response(self.batches[int(request.match_info["id"])])

    async def content(self, request: web.Request) -> web.Response:
        names = [orjson.loads(line)["custom_id"] for line in self.files[-1].splitlines()]
        response = {"status_code": 200, "body": ANSWER}
        return web.Response(body=b"\n".join(orjson.dumps({"custom_id": name, "response": response}) for name in names))


def backend_of(server: TestServer, ledger: Path) -> BatchBackend:
    endpoint = Endpoint(model="m", base_url=str(server.make_url("/v1")), api_key_env=None)
    return BatchBackend(endpoint, ledger, Batching(linger_s=0.01, poll_s=0.005))


async def test_what_a_failed_batch_held_goes_out_again_when_the_stage_is_run_again(tmp_path: Path) -> None:
    empty = {"data": [{"code": "billing_hard_limit_reached", "message": "No credit."}]}
    provider, ledger, request = Provider(1, empty), tmp_path / "batches.json", Request((Message("user", "Where?"),))
    async with TestServer(provider.application()) as server:
        async with backend_of(server, ledger) as first:
            with pytest.raises(BackendUnavailable, match="No credit"):
                await first.complete(request)
        async with backend_of(server, ledger) as second:  # somebody has paid in the meantime
            assert (await second.complete(request)).text == "Here."
    assert len(provider.batches) == 2


async def test_a_listing_that_is_no_json_is_asked_for_again(tmp_path: Path) -> None:
    provider, ledger = Provider(0), tmp_path / "batches.json"
    provider.garbled = 1
    BatchLedger(ledger).begin(["0" * 32])
    async with TestServer(provider.application()) as server, backend_of(server, ledger) as backend:
        assert (await backend.complete(Request((Message("user", "Where?"),)))).text == "Here."
    assert BatchLedger(ledger).unnumbered() == []


async def test_where_the_queue_is_full_requests_go_out_again_and_lose_no_try(tmp_path: Path) -> None:
    provider, ledger = Provider(full=MOST_TRIES + 1), tmp_path / "batches.json"
    async with TestServer(provider.application()) as server, backend_of(server, ledger) as backend:
        reply = await backend.complete(Request((Message("user", "Where?"),)))
    assert reply.text == "Here."
    assert len(BatchLedger(ledger).ids()) == len(provider.batches) == MOST_TRIES + 2
