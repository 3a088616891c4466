import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest
from prefect.settings import PREFECT_API_URL, temporary_settings

from infra.prefect_local import PrefectUnavailable, prefect_api

PROGRAM = """
import os, sys, time
from pathlib import Path
from infra.prefect_local import prefect_api

with prefect_api(Path(sys.argv[1])) as wait:
    assert wait() == wait() == os.environ["PREFECT_API_URL"]
    from prefect import flow, get_run_logger, task
    from prefect.task_runners import ThreadPoolTaskRunner

    @task
    def square(x: int) -> int:
        return x * x

    @flow(task_runner=ThreadPoolTaskRunner(max_workers=3))
    def squares() -> int:
        get_run_logger().info("only for the API")
        return sum(square.map(range(8)).result())

    print(squares(), flush=True)
    if "look" in sys.argv:
        import httpx

        server = os.environ["PREFECT_API_URL"].removesuffix("/api")
        page = httpx.get(server, follow_redirects=True, trust_env=False)
        assert page.headers["content-type"].startswith("text/html")
        print(page.headers["content-security-policy"].replace(server.removeprefix("http"), "://SERVER"))
    if "die" in sys.argv:
        time.sleep(600)
"""
# Not the settings of whoever runs the tests, and a proxy that nobody answers at: loopback must not go through it.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")} | {
    "PYTHONWARNINGS": "default",
    "http_proxy": "http://127.0.0.1:9",
}


def start(home: Path, *arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(home), *arguments],
        env=ENVIRONMENT | {"PREFECT_HOME": str(home / "of-the-client")},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def servers_of(home: Path) -> list[int]:
    asked = f"infra.prefect_server\0{home}".encode()
    return [int(entry.parent.name) for entry in Path("/proc").glob("[0-9]*/cmdline") if asked in read(entry)]


def read(entry: Path) -> bytes:
    try:
        return entry.read_bytes()
    except OSError:  # the process has ended in the meantime
        return b""


def history(home: Path) -> list[tuple[str, str, int]]:
    """Flow run's name of state, task runs' name of state, count."""
    with sqlite3.connect(home / "prefect.db") as database:
        found = database.execute(
            "SELECT flow_run.state_type, task_run.state_type, count(*) FROM flow_run JOIN task_run"
            " ON task_run.flow_run_id = flow_run.id GROUP BY flow_run.id, task_run.state_type"
        ).fetchall()
    database.close()
    return found


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("prefect")


def test_flows_run_on_a_server_of_our_own_that_says_nothing_and_forgets_nothing(home: Path) -> None:
    with start(home, "look") as program:
        out, err = program.communicate(timeout=300)
    # Its pages may connect to it alone, by whichever of its names they were opened.
    assert (out, err) == ("140\nconnect-src 'self' http://SERVER ws://SERVER\n", "")
    assert program.returncode == 0
    assert servers_of(home) == []
    assert history(home) == [("COMPLETED", "COMPLETED", 8)]
    assert list(home.glob("*.log")) == []


def test_the_server_dies_with_a_killed_parent_and_the_history_stays(home: Path) -> None:
    with start(home, "die") as program:
        assert program.stdout is not None
        assert program.stdout.readline() == "140\n"
        assert len(servers_of(home)) == 1
        program.send_signal(signal.SIGKILL)
        end = time.monotonic() + 30
        while servers_of(home):
            assert time.monotonic() < end, "the server is still there"
            time.sleep(0.05)
    assert ("COMPLETED", "COMPLETED", 8) in history(home)


@pytest.mark.faults
def test_a_damaged_database_is_an_error_that_says_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "prefect.db").write_bytes(b"not a database" * 400)
    with start(tmp_path) as program:
        _, err = program.communicate(timeout=300)
    assert "file is not a database" in err
    assert f"delete {tmp_path}" in err


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/api/health" else 404)
        self.end_headers()

    def log_message(self, *arguments: object) -> None:
        """Keep the tests quiet."""


@pytest.fixture
def url() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        yield f"http://127.0.0.1:{server.server_port}/api"
        server.shutdown()


def test_a_server_that_is_set_up_is_used(url: str, tmp_path: Path) -> None:
    with temporary_settings({PREFECT_API_URL: url}), prefect_api(tmp_path / "own") as wait:
        assert wait() == url
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_is_set_up_and_down_is_an_error_not_replaced(tmp_path: Path) -> None:
    with (
        temporary_settings({PREFECT_API_URL: "http://127.0.0.1:1/api"}),
        prefect_api(tmp_path / "own") as wait,
        pytest.raises(PrefectUnavailable, match=r"nothing answers at PREFECT_API_URL=http://127.0.0.1:1/api"),
    ):
        wait()
    assert list(tmp_path.iterdir()) == []
