"""The client before a real service."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from infra.llm.types import BackendUnavailable
from infra.service.cleaner import UNAVAILABLE, Failure
from infra.service.client import ServiceClient, health_of
from infra.service.limits import ServiceLimits
from infra.service.wire import CleanAnswer
from tests.infra.service.test_app import SECRET, TOKEN, Obedient, served

INSTRUCTION = "Leave out who it was."


async def test_a_text_comes_back_clean_or_with_the_reason_why_not() -> None:
    with served(Obedient()) as url:
        async with ServiceClient(url) as client:
            clean = await client.clean(f"{SECRET} came.", INSTRUCTION)
            failed = await client.clean("fail cut_off", INSTRUCTION)
            ours = await client.clean("fail too_long", INSTRUCTION)
    assert isinstance(clean, CleanAnswer)
    assert clean.text == "somebody came."
    assert [failed, ours] == [
        Failure("cut_off", "the service gave no clean text"),
        Failure("too_long", "the service gave no clean text", ours=True),
    ]


async def test_a_model_that_does_not_answer_is_no_failure_of_the_text() -> None:
    limits = ServiceLimits(retry_after_s=1)
    with served(Obedient(), limits) as url:
        async with ServiceClient(url, attempts=2) as client:
            with pytest.raises(BackendUnavailable, match="HTTP 503 backend_unavailable"):
                await client.clean(f"fail {UNAVAILABLE}", INSTRUCTION)
    async with ServiceClient(url, attempts=2) as client:
        with pytest.raises(BackendUnavailable, match="does not answer"):
            await client.clean("x", INSTRUCTION)


async def test_a_token_is_taken_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    with served(Obedient(), token=TOKEN) as url:
        async with ServiceClient(url) as client:
            with pytest.raises(BackendUnavailable, match="put it into PRIVASIS_TOKEN"):
                await client.clean("x", INSTRUCTION)
        monkeypatch.setenv("PRIVASIS_TOKEN", TOKEN)
        async with ServiceClient(url) as client:
            assert isinstance(await client.clean("x", INSTRUCTION), CleanAnswer)


def test_a_service_says_which_model_it_has_and_a_wrong_address_what_to_do() -> None:
    cleaner = Obedient()
    with served(cleaner) as url:
        assert (health_of(f"{url}/docs").model, health_of(url).at_once) == ("obedient", 3)
        cleaner.is_ready = False
        with pytest.raises(BackendUnavailable, match="its model obedient does not answer"):
            health_of(url)
    with pytest.raises(BackendUnavailable, match="start `privasis serve"):
        health_of(url)


@contextmanager
def proxy(status: int, body: str) -> Iterator[str]:
    """Serve what stands between client and service, and answers by itself."""

    class Answer(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(status)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Answer) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


@pytest.mark.parametrize(
    ("status", "said"),
    [(502, "HTTP 502 unknown"), (422, "HTTP 422 unknown"), (200, "is no `privasis serve`")],
)
async def test_what_a_proxy_answers_is_said_of_no_text(status: int, said: str) -> None:
    with proxy(status, f"<html>{SECRET}</html>") as url:
        async with ServiceClient(url, attempts=2) as client:
            with pytest.raises(BackendUnavailable, match=said) as raised:
                await client.clean("x", INSTRUCTION)
    assert SECRET not in str(raised.value)
    assert raised.value.__cause__ is None
