"""A real server on loopback that answers what it is told to."""

import json
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from infra.stack.prefect_api import ApiAway, ApiRefused, PrefectApi


class Answering(ThreadingHTTPServer):
    status = 200
    pages: list[object]
    asked: list[tuple[str, str, Any]]


class Handler(BaseHTTPRequestHandler):
    server: Answering

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.server.asked.append((self.headers["Authorization"], self.path, json.loads(body) if body else None))
        content = json.dumps(self.server.pages.pop(0)).encode() if self.server.pages else b""
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Answering]:
    with Answering(("127.0.0.1", 0), Handler) as running:
        running.pages, running.asked = [], []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def api_of(server: Answering) -> PrefectApi:
    return PrefectApi(f"http://127.0.0.1:{server.server_port}/api", "me:päss")


def test_the_password_is_shown_to_the_server_and_to_nobody_else(server: Answering) -> None:
    server.pages = [{"id": "1"}]
    api = api_of(server)
    assert api.get("/health") == {"id": "1"}
    assert server.asked == [("Basic bWU6cMOkc3M=", "/api/health", None)]
    assert "päss" not in repr(api)


def test_pages_are_read_until_one_is_empty(server: Answering) -> None:
    server.pages = [[{"id": "1"}, {"id": "2"}], [{"id": "3"}], []]
    found = api_of(server).flow_runs("process", ("RUNNING",))
    assert [run["id"] for run in found] == ["1", "2", "3"]
    assert [body["offset"] for _, _, body in server.asked] == [0, 2, 3]
    assert server.asked[0][2]["work_pools"] == {"name": {"any_": ["process"]}}


@pytest.mark.parametrize("status", [429, 502, 503])
def test_an_answer_that_says_later_is_no_refusal(server: Answering, status: int) -> None:
    server.status = status
    with pytest.raises(ApiAway, match=str(status)):
        api_of(server).post("/flow_runs/filter", {})


@pytest.mark.parametrize("status", [401, 404, 422, 500])
def test_a_refusal_carries_the_servers_words(server: Answering, status: int) -> None:
    server.status, server.pages = status, [{"detail": "no such pool"}]
    with pytest.raises(ApiRefused, match=f"POST /work_pools/: HTTP {status}: .*no such pool"):
        api_of(server).post("/work_pools/", {})


def test_no_server_is_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
    api = PrefectApi(f"http://127.0.0.1:{port}/api", "me:pass")
    with pytest.raises(ApiAway):
        api.get("/health")
    assert not api.is_up()
