"""The service as a process, before the simulator as another: many clients, a dead model, an end in order."""

import asyncio
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import pytest
from typer.testing import CliRunner

from flows import cli
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from tasks.cleaning.private_file import read_map

TEXT = "Amina Karim came on 12 May 2019. " * 60
BODY = {"text": TEXT, "instruction": "Leave out who it was."}


@dataclass
class Service:
    """A running service, and what it has written to standard error."""

    url: str
    process: subprocess.Popen[str]
    errors: list[str] = field(default_factory=list)

    def end(self) -> int:
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(120)


@contextmanager
def service(*flags: str, **environment: str) -> Iterator[Service]:
    command = [sys.executable, "-c", "from flows.cli import main; main()", "serve", "--port", "0", *flags]
    kept = {name: value for name, value in os.environ.items() if name != "OPENAI_API_KEY"}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=kept | environment) as process:
        assert process.stderr is not None
        read: list[str] = []
        address = None
        while address is None and (line := process.stderr.readline()):
            read.append(line)
            address = re.search(r"http://[\d.]+:\d+", line)
        assert address is not None, "".join(read)
        running = Service(address[0], process, read)
        reader = threading.Thread(target=read.extend, args=(process.stderr,))
        reader.start()
        try:
            yield running
        finally:
            process.kill()
            reader.join()


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig(latency_ms=20)) as running:
        yield running


def flags(simulator: Simulator) -> tuple[str, ...]:
    return ("--model", "openai:simulator", "--base-url", simulator.base_url)


async def post_all(url: str, count: int) -> list[httpx.Response]:
    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(timeout=120, limits=limits) as client:
        return await asyncio.gather(
            *(client.post(f"{url}/v1/clean", json=BODY | {"text": f"{number}: {TEXT}"}) for number in range(count))
        )


def test_a_hundred_clients_a_storm_of_faults_and_an_end_in_order(simulator: Simulator) -> None:
    with service(*flags(simulator)) as running:
        answers = asyncio.run(post_all(running.url, 100))
        assert [answer.status_code for answer in answers] == [200] * 100
        assert len({answer.json()["text"] for answer in answers}) == 100

        simulator.set_faults(1.0, "refusal", "empty", "truncated")
        failed = asyncio.run(post_all(running.url, 20))
        assert {answer.status_code for answer in failed} == {502}
        simulator.set_faults(0)
        assert httpx.post(f"{running.url}/v1/clean", json=BODY, timeout=60).status_code == 200
        assert httpx.get(f"{running.url}/health", timeout=60).json()["ready"]

        bad = httpx.post(
            f"{running.url}/v1/clean", content=b'{"text": "Amina', headers={"Content-Type": "application/json"}
        )
        assert bad.status_code == 422
        assert running.end() == 143
    said = "".join(running.errors)
    assert "Amina" not in said
    assert "Traceback" not in said


def test_a_bulk_request_has_reports_and_pseudonyms(simulator: Simulator, tmp_path: Path) -> None:
    known = tmp_path / "map.json"
    item = BODY | {"values": [{"key": "name", "value": "Amina Karim"}], "report": True}
    with service(*flags(simulator), "--pseudonyms", str(known)) as running:
        answer = httpx.post(f"{running.url}/v1/clean/batch", json={"items": [item, item]}, timeout=60)
    assert answer.status_code == 200
    first, second = answer.json()["items"]
    assert first["status"] == second["status"] == "clean"
    assert len(first["clean"]["report"]["values"][0]["places"]) == 60
    assert [each.value for each in read_map(known).pseudonyms] == ["Amina Karim"]


def test_a_dead_model_is_503_and_the_service_lives_on() -> None:
    with start(SimulatorConfig()) as dying, service(*flags(dying)) as running:
        assert httpx.post(f"{running.url}/v1/clean", json=BODY, timeout=60).status_code == 200
        os.kill(dying.pid, signal.SIGKILL)
        answer = httpx.post(f"{running.url}/v1/clean", json=BODY, timeout=60)
        assert (answer.status_code, answer.json()["error"]) == (503, "backend_unavailable")
        assert int(answer.headers["Retry-After"]) > 0
        assert httpx.get(f"{running.url}/health", timeout=60).status_code == 503


def test_what_is_in_work_when_the_end_comes_is_finished() -> None:
    with start(SimulatorConfig(latency_ms=1500)) as slow, service(*flags(slow)) as running:
        answers: list[httpx.Response] = []
        client = threading.Thread(
            target=lambda: answers.append(httpx.post(f"{running.url}/v1/clean", json=BODY, timeout=60))
        )
        client.start()
        slow.wait(1)
        running.end()
        client.join()
    assert [answer.status_code for answer in answers] == [200]


def test_others_need_a_token(simulator: Simulator) -> None:
    token = "a-token-of-some-length"
    with service(*flags(simulator), "--host", "0.0.0.0", "--token-env", "CLEAN_TOKEN", CLEAN_TOKEN=token) as running:
        url = running.url.replace("0.0.0.0", "127.0.0.1")
        assert httpx.post(f"{url}/v1/clean", json=BODY).status_code == 401
        headers = {"Authorization": f"Bearer {token}"}
        assert httpx.post(f"{url}/v1/clean", json=BODY, headers=headers, timeout=60).status_code == 200


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host", "0.0.0.0"), "--token-env"),
        (("--host", "example.org"), "--token-env"),
        (("--token-env", "NOT_SET_ANYWHERE"), "not set"),
    ],
)
def test_a_service_that_would_be_open_to_others_does_not_start(arguments: tuple[str, ...], said: str) -> None:
    made = CliRunner().invoke(cli.app, ["serve", "--model", "simulator:s", *arguments])
    assert made.exit_code == 2
    assert said in made.stderr
