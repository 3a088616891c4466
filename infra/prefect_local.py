"""A Prefect API for the flows of this process: the one a person has set up, or a server of our own for the run.

Why not Prefect's own temporary server: it takes as long to start, but it shuts down while events are still on their
way, keeps its history in the person's own database, has no pages to look at, and outlives a killed parent.
"""

import os
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from infra.engines.process import EngineFailed, EngineProcess

LOOPBACK = "127.0.0.1"
READY_WITHIN_S = 300.0  # 6 s of one core, 12 when the database is new; a machine may have much else to do
STOP_WITHIN_S = 40.0  # more than the server takes to write down what it was told; as a rule one second
DRAIN_S = 10.0


class PrefectUnavailable(Exception):
    """No Prefect API to run flows with; the message says what to do."""


@contextmanager
def prefect_api(home: Path) -> Iterator[Callable[[], str]]:
    """Give the flows called inside the block an API: what Prefect is set up to use, else a server that ends with it.

    Call it before anything imports flows: what Prefect prints is then limited to warnings, and Prefect's import, which
    takes two seconds, has to happen anyway.

    Args:
        home: folder for our own server: its database, so that earlier runs can be looked at, and its log.

    Yields:
        A function that waits until the API answers and returns its URL. To be called before the first flow; what is
        started before it (Ray, a model) starts at the same time as our server.

    Raises:
        PrefectUnavailable: (from the function) nothing answers at the address that is set up, or our server failed.
    """
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL", "WARNING")  # the API still gets the rest
    from prefect.settings import get_current_settings

    url = get_current_settings().api.url  # from the environment, a profile or prefect.toml
    if url is not None:
        yield lambda: _check(url)
        return
    home.mkdir(parents=True, exist_ok=True)
    server = _launch(home)
    with ExitStack() as stack:
        stack.callback(server.stop, STOP_WITHIN_S)
        yield lambda: _use(server, home, stack)
    server.log.unlink()  # kept, and named in the error, when something went wrong


def _check(url: str) -> str:
    try:
        urllib.request.urlopen(f"{url}/health", timeout=10).close()
    except urllib.error.HTTPError as answer:
        answer.close()  # there is a server; whether it lets us in is for Prefect to say
    except OSError as error:
        raise PrefectUnavailable(
            f"nothing answers at PREFECT_API_URL={url} ({error}): start that server, or unset it (environment, "
            "`prefect config unset PREFECT_API_URL`) and each run gets a server of its own"
        ) from error
    return url


def _launch(home: Path) -> EngineProcess:
    log = home / f"server-{os.getpid()}.log"
    with log.open("wb") as sink:
        child = subprocess.Popen(
            [sys.executable, "-m", "infra.prefect_server", str(home)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=sink,
            start_new_session=True,  # Ctrl-C is for us; the server is needed until the flows have ended
        )
    return EngineProcess("infra.prefect_server", child, log)


def _use(server: EngineProcess, home: Path, stack: ExitStack) -> str:
    if not server.facts:
        try:
            server.wait_until_ready(READY_WITHIN_S)
        except EngineFailed as error:
            raise PrefectUnavailable(
                f"{error}\nIf its database is damaged, delete {home}: it is only history"
            ) from error
        stack.enter_context(_as_api(_url(server)))
    return _url(server)


def _url(server: EngineProcess) -> str:
    return f"http://{LOOPBACK}:{server.facts['port']}/api"


@contextmanager
def _as_api(url: str) -> Iterator[None]:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    os.environ["PREFECT_API_URL"] = url  # for child processes
    # A proxy that a person has set would be asked for our server, too. Of the two spellings this one wins.
    spared = os.environ.get("no_proxy", os.environ.get("NO_PROXY", ""))
    os.environ["no_proxy"] = ",".join(filter(None, [spared, LOOPBACK]))
    try:
        with temporary_settings({PREFECT_API_URL: url}):
            try:
                yield
            finally:
                _drain()
    finally:
        del os.environ["PREFECT_API_URL"]


def _drain() -> None:
    """Send what Prefect still has to say, while its server is there to hear it."""
    from prefect.events.worker import EventsWorker
    from prefect.logging.handlers import APILogWorker

    APILogWorker.drain_all(timeout=DRAIN_S)
    EventsWorker.drain_all(timeout=DRAIN_S)
