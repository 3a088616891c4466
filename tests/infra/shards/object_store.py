"""A real server of the S3 protocol in this process, on loopback, with faults to be told to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock, Thread
from typing import Any
from urllib.parse import parse_qs
from urllib.request import Request, urlopen

import pytest
from moto.core import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server

from infra.settings import settings
from infra.shards import objects, s3
from infra.shards.location import ObjectPath

BUCKET = "letters"
_made_for: list[
    str
] = []  # the store that the client of this process is for, if it is: making one takes a tenth of a second


@dataclass
class Fault:
    """What the next ``times`` requests that start so are answered with."""

    start: str
    status: int
    code: str
    times: int


@dataclass
class Store:
    """The server, and what it was asked.

    Attributes:
        url: where it answers.
        requests: such as ``PUT /letters/a`` and ``LIST a/``.
        faults: what it answers instead.
        if_match: the versions that writes were conditional on.
    ignores_conditions: it writes whatever a conditional put says, as old servers do.
    """

    url: str = ""
    requests: list[str] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    ignores_conditions: bool = False
    if_match: list[str] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock)
    _writing: Lock = field(default_factory=Lock)  # moto looks and writes in two steps, a real store in one

    def fail(self, start: str, status: int, code: str, times: int = 1) -> None:
        self.faults.append(Fault(start, status, code, times))

    def count(self, start: str = "") -> int:
        return sum(each.startswith(start) for each in self.requests)

    def hold(self, key: str, data: bytes) -> None:
        """Put an object there without a request."""
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object(BUCKET, key, data)

    def hold_folder(self, folder: Path, key: str) -> ObjectPath:
        """Put all files below a folder there without requests, as `aws s3 sync` does; return its place."""
        for file in folder.rglob("*"):
            if file.is_file():
                self.hold(f"{key}/{file.relative_to(folder).as_posix()}", file.read_bytes())
        return ObjectPath(BUCKET, key)

    def answer(self, app: Any, environ: dict[str, Any], start_response: Any) -> Any:
        asked = parse_qs(environ["QUERY_STRING"])
        what = f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}"
        if "list-type" in asked:
            what = f"LIST {asked.get('prefix', [''])[0]}"
        with self._lock:
            self.requests.append(what)
            fault = next((each for each in self.faults if each.times and what.startswith(each.start)), None)
            if fault is not None:
                fault.times -= 1
        if fault is not None:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
            body = f"<Error><Code>{fault.code}</Code><Message>told so</Message></Error>".encode()
            start_response(
                f"{fault.status} -", [("Content-Type", "application/xml"), ("Content-Length", str(len(body)))]
            )
            return [body]
        if condition := environ.get("HTTP_IF_MATCH"):
            self.if_match.append(condition)
        if self.ignores_conditions:
            environ.pop("HTTP_IF_NONE_MATCH", None)
            environ.pop("HTTP_IF_MATCH", None)
        if environ["REQUEST_METHOD"] == "GET":
            return app(environ, start_response)
        with self._writing:
            return app(environ, start_response)


class _Quiet(MotoRequestHandler):
    protocol_version = "HTTP/1.1"  # connections stay open, as those to a real store do

    def log(self, type: str, message: str, *args: Any) -> None:
        pass


@contextmanager
def served(port: int = 0) -> Iterator[Store]:
    """Serve an empty store with one bucket until the block ends."""
    app = DomainDispatcherApplication(create_backend_app)
    store = Store()
    server = make_server(
        "127.0.0.1",
        port,
        lambda environ, start: store.answer(app, environ, start),
        threaded=True,
        request_handler=_Quiet,
    )
    store.url = f"http://127.0.0.1:{server.server_port}"
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        for method, path in (("POST", "/moto-api/reset"), ("PUT", f"/{BUCKET}")):
            urlopen(Request(store.url + path, method=method)).close()
        store.requests.clear()
        yield store
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def use(store: Store, monkeypatch: pytest.MonkeyPatch, scratch: Any) -> None:
    """Point this process at ``store``, as a new one with a disk of its own would be."""
    monkeypatch.setenv("AWS_ENDPOINT_URL_S3", store.url)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "one")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "two")
    monkeypatch.setenv("AWS_REGION", "us-east-1")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "3")
    monkeypatch.setenv("PRIVASIS_SCRATCH", str(scratch))
    if _made_for != [store.url]:
        forget()
        _made_for.append(store.url)
    settings.cache_clear()
    objects.check_store.cache_clear()


def forget() -> None:
    """Let the next call read the environment again, and make a client for it."""
    _made_for.clear()
    settings.cache_clear()
    s3.client.cache_clear()
    objects.check_store.cache_clear()
