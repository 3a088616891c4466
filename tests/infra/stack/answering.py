"""A real server on loopback that answers what it is told to."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from infra.stack.prefect_api import PrefectApi


class Answering(ThreadingHTTPServer):
    """Answers with what `answers` has for a path and makes of the body, else with the next of `pages`."""

    status = 200
    answers: dict[str, Callable[[Any], object]]
    pages: list[object]
    asked: list[tuple[str, str, Any]]

    def answer(self, path: str, body: object) -> bytes:
        if path in self.answers:
            return json.dumps(self.answers[path](body)).encode()
        return json.dumps(self.pages.pop(0)).encode() if self.pages else b""

    def bodies(self, path: str) -> list[Any]:
        """Return what was sent to a path."""
        return [body for _, where, body in self.asked if where == path]

    @property
    def api(self) -> PrefectApi:
        return PrefectApi(f"http://127.0.0.1:{self.server_port}/api", "me:päss")


class Handler(BaseHTTPRequestHandler):
    server: Answering

    def _answer(self) -> None:
        text = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        body = json.loads(text) if text else None
        self.server.asked.append((self.headers["Authorization"], self.path, body))
        content = self.server.answer(self.path, body)
        self.send_response(self.server.status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = _answer

    def log_message(self, format: str, *args: object) -> None:
        pass


@contextmanager
def answering() -> Iterator[Answering]:
    with Answering(("127.0.0.1", 0), Handler) as running:
        running.answers, running.pages, running.asked = {}, [], []
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield running
        finally:
            running.shutdown()
            thread.join()


def once(page: list[object]) -> Callable[[Any], object]:
    """Return an answer for a path that gives pages: this one, and then no more."""
    return lambda asked: page if asked["offset"] == 0 else []
