"""The service over real sockets, with a cleaner that does what a text tells it."""

import asyncio
import gc
import io
import json
import logging
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import httpx
import pytest
import uvicorn

from infra.scrape import metrics_of
from infra.service.app import create_app
from infra.service.cleaner import TIMEOUT, UNAVAILABLE, Failure
from infra.service.limits import ServiceLimits
from infra.service.logs import log_without_texts
from infra.service.wire import CleanAnswer, CleanItem

SECRET = "Amina Karim"
TOKEN = "a-token-of-some-length"


class Obedient:
    """Cleans by taking the name out; ``sleep N``, ``fail R`` and ``bug`` in a text do as they say."""

    model = "obedient"
    at_once = 3

    def __init__(self) -> None:
        self.is_ready = True
        self.in_hand = self.most_at_once = 0

    async def clean(self, items: Sequence[CleanItem], deadline: float) -> list[CleanAnswer | Failure]:
        self.in_hand += 1
        self.most_at_once = max(self.most_at_once, self.in_hand)
        try:
            return [await self._one(item, deadline) for item in items]
        finally:
            self.in_hand -= 1

    async def _one(self, item: CleanItem, deadline: float) -> CleanAnswer | Failure:
        order, _, what = item.text.partition(" ")
        match order:
            case "sleep":
                try:
                    async with asyncio.timeout_at(deadline):
                        await asyncio.sleep(float(what))
                except TimeoutError:
                    return Failure(TIMEOUT, "too long")
            case "fail":
                return Failure(what, "said without the text", ours=what == "too_long")
            case "bug":
                raise ZeroDivisionError(item.text)
        return CleanAnswer(text=item.text.replace(SECRET, "somebody"), model="obedient")

    async def ready(self) -> bool:
        return self.is_ready


@contextmanager
def served(
    cleaner: Obedient, limits: ServiceLimits | None = None, token: str | None = None, loopback: bool = True
) -> Iterator[str]:
    app = create_app(cleaner, limits or ServiceLimits(), token=token, loopback=loopback)
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listening:
        config = uvicorn.Config(app, access_log=False, log_config=None, lifespan="off")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.005)
        try:
            yield f"http://127.0.0.1:{listening.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    with served(Obedient()) as address:
        yield address


def body(text: str = f"{SECRET} came.", **more: object) -> dict[str, object]:
    return {"text": text, "instruction": "Leave out names.", **more}


def test_a_text_comes_back_clean(url: str) -> None:
    answer = httpx.post(f"{url}/v1/clean", json=body())
    assert (answer.status_code, answer.json()) == (200, {"text": "somebody came.", "model": "obedient", "report": None})


def test_a_bulk_request_has_an_outcome_for_each_text(url: str) -> None:
    items = [body(), body("fail refusal"), body(f"fail {UNAVAILABLE}")]
    answer = httpx.post(f"{url}/v1/clean/batch", json={"items": items})
    assert answer.status_code == 200
    made = answer.json()["items"]
    assert [each["status"] for each in made] == ["clean", "failed", "failed"]
    assert made[0]["clean"]["text"] == "somebody came."
    assert made[1]["error"] == {"error": "refusal", "message": "said without the text"}


@pytest.mark.parametrize(
    ("reason", "status"),
    [("refusal", 502), ("cut_off", 502), ("empty_reply", 502), ("too_long", 422), (TIMEOUT, 504), (UNAVAILABLE, 503)],
)
def test_each_failure_has_its_status_and_no_text(url: str, reason: str, status: int) -> None:
    answer = httpx.post(f"{url}/v1/clean", json=body(f"fail {reason}"))
    assert answer.status_code == status
    assert answer.json() == {"error": reason, "message": "said without the text"}
    assert ("Retry-After" in answer.headers) == (status == 503)


def test_a_bulk_request_that_no_model_answers_is_503(url: str) -> None:
    items = [body(f"fail {UNAVAILABLE}")] * 2
    assert httpx.post(f"{url}/v1/clean/batch", json={"items": items}).status_code == 503


@pytest.mark.parametrize(
    "content",
    [
        f'{{"text": "{SECRET}"'.encode(),
        json.dumps({"text": SECRET}).encode(),
        json.dumps({"text": [SECRET], "instruction": SECRET}).encode(),
        json.dumps(body() | {SECRET: SECRET}).encode(),
        json.dumps(body() | {"instruction": " "}).encode(),
        json.dumps(body() | {"values": [{"key": "name", "value": ""}]}).encode(),
        json.dumps(body() | {"values": [{"key": "name", SECRET: SECRET}]}).encode(),
        json.dumps(body() | {"text": f"{SECRET} \ud800"}).encode(),
        json.dumps([SECRET]).encode(),
        SECRET.encode("utf-16"),
        SECRET.encode() + b"\xff",
        json.dumps({"text": SECRET}).encode()[:-1] + b', "instruction": ' + b"9" * 5000 + b"}",
        b"[" * 100_000,
        b"",
    ],
)
def test_a_malformed_body_is_422_and_not_echoed(url: str, content: bytes) -> None:
    answer = httpx.post(f"{url}/v1/clean", content=content, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (422, "invalid")
    assert "Karim" not in answer.text


def test_a_body_of_another_type_is_refused_so_that_no_web_page_can_send_it(url: str) -> None:
    answer = httpx.post(f"{url}/v1/clean", content=json.dumps(body()), headers={"Content-Type": "text/plain"})
    assert answer.status_code == 422
    assert "send it with Content-Type: application/json" in answer.json()["message"]
    assert "Karim" not in answer.text


def test_another_host_name_is_refused_on_loopback(url: str) -> None:
    assert httpx.get(f"{url}/health", headers={"Host": "evil.example"}).status_code == 400


SMALL = ServiceLimits(body_bytes=2000, text_characters=100, batch_items=2, seconds=0.3, at_once=1, waiting=1)


@pytest.fixture(scope="module")
def small() -> Iterator[str]:
    with served(Obedient(), SMALL) as address:
        yield address


def test_a_body_that_promises_too_much_is_413_before_it_is_read(small: str) -> None:
    host, port = small.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=5) as client:
        head = ("POST /v1/clean HTTP/1.1", f"Host: {host}", "Content-Type: application/json", "Content-Length: 999999")
        client.sendall("\r\n".join((*head, "", "")).encode())
        assert client.recv(100).startswith(b"HTTP/1.1 413")


def test_a_body_that_grows_too_large_is_413(small: str) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(50):
            yield b'{"text": "' + b"x" * 100

    answer = httpx.post(f"{small}/v1/clean", content=pieces(), headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["error"]) == (413, "too_large")


def test_texts_that_are_too_long_or_too_many_are_422(small: str) -> None:
    assert httpx.post(f"{small}/v1/clean", json=body("x" * 101)).status_code == 422
    assert httpx.post(f"{small}/v1/clean/batch", json={"items": [body()] * 3}).status_code == 422


def test_what_takes_too_long_is_504(small: str) -> None:
    assert httpx.post(f"{small}/v1/clean", json=body("sleep 5")).status_code == 504


async def test_who_finds_no_place_to_wait_is_told_to_come_again() -> None:
    limits = ServiceLimits(at_once=1, waiting=1, seconds=20)
    with served(Obedient(), limits) as address:
        async with httpx.AsyncClient(timeout=30) as client:
            answers = await asyncio.gather(
                *(client.post(f"{address}/v1/clean", json=body("sleep 0.3")) for _ in range(5))
            )
    statuses = sorted(answer.status_code for answer in answers)
    assert statuses == [200, 200, 429, 429, 429]
    assert {answer.headers.get("Retry-After") for answer in answers if answer.status_code == 429} == {"2"}


async def test_a_hundred_clients_at_once_are_all_served_a_few_at_a_time() -> None:
    cleaner = Obedient()
    with served(cleaner) as address:
        async with httpx.AsyncClient(timeout=60, limits=httpx.Limits(max_connections=None)) as client:
            answers = await asyncio.gather(
                *(client.post(f"{address}/v1/clean", json=body(f"sleep 0.0{number % 3}")) for number in range(100))
            )
            counted = metrics_of((await client.get(f"{address}/metrics")).text)
    assert [answer.status_code for answer in answers] == [200] * 100
    assert cleaner.most_at_once == ServiceLimits().at_once
    assert counted["privasis_texts_total"] == 100
    assert counted["privasis_responses_total"] == 100
    assert counted["privasis_requests_inside"] == 0


def test_health_tells_whether_the_model_answers() -> None:
    cleaner = Obedient()
    with served(cleaner) as address:
        assert httpx.get(f"{address}/health").json() == {"live": True, "ready": True, "model": "obedient", "at_once": 3}
        cleaner.is_ready = False
        answer = httpx.get(f"{address}/health")
    assert (answer.status_code, answer.json()["ready"]) == (503, False)


def test_with_a_token_only_health_is_open() -> None:
    with served(Obedient(), token=TOKEN) as address:
        assert httpx.get(f"{address}/health").status_code == 200
        assert httpx.get(f"{address}/metrics").status_code == 401
        for shown in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": TOKEN}, {"Authorization": "Bearer é"}):
            headers = {key: value.encode() for key, value in shown.items()}
            assert httpx.post(f"{address}/v1/clean", json=body(), headers=headers).status_code == 401
        headers = {"Authorization": f"Bearer {TOKEN}".encode()}
        assert httpx.post(f"{address}/v1/clean", json=body(), headers=headers).status_code == 200


def test_the_api_is_described(url: str) -> None:
    described = httpx.get(f"{url}/openapi.json").json()
    assert set(described["paths"]) == {"/v1/clean", "/v1/clean/batch", "/health", "/metrics"}
    assert {"413", "429", "502", "503", "504"} <= described["paths"]["/v1/clean"]["post"]["responses"].keys()
    assert httpx.get(f"{url}/docs").status_code == 200


@pytest.fixture
def logged() -> Iterator[io.StringIO]:
    """What the server's loggers write while the test runs."""
    loggers = [logging.getLogger(name) for name in ("uvicorn", "asyncio")]
    before = [(logger.handlers, logger.propagate, logger.level) for logger in loggers]
    log_without_texts()
    written = io.StringIO()
    (handler,) = loggers[0].handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(written)
    yield written
    for logger, (handlers, propagate, level) in zip(loggers, before, strict=True):
        logger.handlers, logger.propagate = handlers, propagate
        logger.setLevel(level)


def test_a_traceback_that_another_formatter_has_left_in_the_record_is_not_used(logged: io.StringIO) -> None:
    error = ZeroDivisionError(SECRET)
    record = logging.LogRecord("uvicorn.error", logging.ERROR, "here", 1, "failed", None, (type(error), error, None))
    logging.Formatter().format(record)
    assert "Karim" in str(record.exc_text)
    logging.getLogger("uvicorn.error").handle(record)
    assert logged.getvalue().split() == ["ERROR", "uvicorn.error:", "failed", "ZeroDivisionError"]


async def test_the_exception_of_a_task_that_nobody_awaits_is_told_without_its_message(logged: io.StringIO) -> None:
    async def fail() -> None:
        raise ZeroDivisionError(SECRET)

    task = asyncio.create_task(fail())
    await asyncio.sleep(0)
    del task
    gc.collect()
    assert "Task exception was never retrieved" in logged.getvalue()
    assert "ZeroDivisionError\n" in logged.getvalue()
    assert "Karim" not in logged.getvalue()


def test_handlers_that_somebody_configured_before_write_nothing(logged: io.StringIO) -> None:
    elsewhere = io.StringIO()
    logging.getLogger("uvicorn.error").addHandler(logging.StreamHandler(elsewhere))
    log_without_texts()
    logging.getLogger("uvicorn.error").error("failed")
    assert elsewhere.getvalue() == ""


def test_loggers_that_somebody_silenced_before_write(logged: io.StringIO) -> None:
    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    log_without_texts()
    (handler,) = logging.getLogger("uvicorn").handlers
    assert isinstance(handler, logging.StreamHandler)
    handler.setStream(logged)
    logging.getLogger("uvicorn.error").error("failed")
    assert logged.getvalue() == "ERROR uvicorn.error: failed\n"


def test_a_bug_is_logged_by_kind_and_place_and_tells_nothing_of_the_text(logged: io.StringIO) -> None:
    with served(Obedient()) as address:
        answer = httpx.post(f"{address}/v1/clean", json=body(f"bug {SECRET}"))
        httpx.post(f"{address}/v1/clean", json=body())
    assert answer.status_code == 500
    assert "ZeroDivisionError\n" in logged.getvalue()
    assert "test_app.py" in logged.getvalue()
    assert "Karim" not in answer.text + logged.getvalue()
