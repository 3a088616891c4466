import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from infra.stack.serving import serve
from tests.infra.stack.answering import Answering, answering

# Stands for the server's process; what answers is in the test's own.
_LONG = [sys.executable, "-c", "import time; time.sleep(60)"]


@pytest.fixture
def server() -> Iterator[Answering]:
    with answering() as running:
        running.answers = {"/api/flow_runs/filter": lambda _: [], "/api/task_runs/filter": lambda _: []}
        yield running


def end_when(server: Answering, path: str) -> threading.Thread:
    """Send this process SIGTERM when the server has been asked for a path."""

    def wait() -> None:
        end = time.monotonic() + 20
        while not server.bodies(path) and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(os.getpid(), signal.SIGTERM)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_run_that_crashed_is_picked_up_beside_the_server_until_sigterm_ends_both(server: Answering) -> None:
    crashed_at = (datetime.now(UTC) - timedelta(minutes=1)).isoformat()
    run = {"id": "r", "deployment_id": "d", "state": {"timestamp": crashed_at, "message": "No heartbeat"}}
    states = [{"type": kind} for kind in ("SCHEDULED", "PENDING", "RUNNING", "CRASHED")]
    told: dict[str, Any] = {}

    def crashed(asked: Any) -> list[object]:
        return [run] if not told and asked["offset"] == 0 else []

    def set_state(asked: Any) -> object:
        told.update(asked["state"])
        return {"status": "ACCEPT"}

    server.answers |= {
        "/api/flow_runs/filter": crashed,
        "/api/flow_run_states/?flow_run_id=r": lambda _: states,
        "/api/flow_runs/r/set_state": set_state,
    }
    said: list[str] = []
    before = signal.getsignal(signal.SIGTERM)
    thread = end_when(server, "/api/task_runs/filter")
    status = serve(_LONG, server.api, said.append, round_s=0.05)
    thread.join()
    assert status == 128 + signal.SIGTERM
    assert (told["type"], told["name"]) == ("SCHEDULED", "AwaitingRetry")
    assert said == ["1 runs had crashed, and are picked up again"]
    assert signal.getsignal(signal.SIGTERM) is before


def test_task_runs_of_ended_runs_are_closed(server: Answering) -> None:
    server.answers |= {"/api/task_runs/filter": lambda _: [{"id": "t"}], "/api/task_runs/t/set_state": lambda _: {}}
    thread = end_when(server, "/api/task_runs/t/set_state")
    serve(_LONG, server.api, lambda _: None, round_s=0.05)
    thread.join()
    assert server.bodies("/api/task_runs/t/set_state")[0]["state"]["type"] == "CRASHED"


def test_a_server_that_is_not_up_yet_is_not_asked_for_runs(server: Answering) -> None:
    server.status = 503
    said: list[str] = []
    thread = end_when(server, "/api/health")
    serve(_LONG, server.api, said.append, round_s=0.05)
    thread.join()
    assert {path for _, path, _ in server.asked} == {"/api/health"}
    assert said == []


def test_it_ends_as_the_server_does(server: Answering) -> None:
    assert serve([sys.executable, "-c", "raise SystemExit(7)"], server.api, lambda _: None) == 7
