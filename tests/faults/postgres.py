"""A real PostgreSQL server of a test: a private folder and port, never as root, which it refuses."""

import os
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

_DEBIAN = Path("/usr/lib/postgresql")
_USER = "postgres"  # as which Debian's package runs it


class Postgres:
    """A server that can be ended and started again.

    Attributes:
        url: of its database.
    """

    def __init__(self, programs: Path, folder: Path) -> None:
        self._programs, self._folder = programs, folder
        with socket.create_server(("127.0.0.1", 0)) as listener:
            self._port: int = listener.getsockname()[1]
        self.url = f"postgresql://privasis@127.0.0.1:{self._port}/postgres"
        self._process: subprocess.Popen[bytes] | None = None

    def make(self) -> None:
        command = [self._programs / "initdb", "-D", self._folder / "data", "-U", "privasis", "-A", "trust", "--no-sync"]
        subprocess.run(command, check=True, capture_output=True, **_as_somebody())

    def start(self) -> None:
        settings = ["-c", "listen_addresses=127.0.0.1", "-c", "fsync=off", "-c", "max_connections=200"]
        places = ["-D", self._folder / "data", "-k", self._folder, "-p", str(self._port)]
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [self._programs / "postgres", *places, *settings], stdout=log, stderr=log, **_as_somebody()
            )
        end = time.monotonic() + 60
        while not self._answers():
            assert self._process.poll() is None, (self._folder / "log").read_text()
            assert time.monotonic() < end
            time.sleep(0.1)

    def stop(self, number: signal.Signals = signal.SIGINT) -> None:
        """End it: SIGINT cuts off whoever is connected; SIGQUIT is a crash."""
        if self._process is not None:
            self._process.send_signal(number)
            self._process.wait(60)

    def _answers(self) -> bool:
        command = [self._programs / "pg_isready", "-h", "127.0.0.1", "-p", str(self._port), "-q"]
        return subprocess.run(command, check=False).returncode == 0


@contextmanager
def postgres() -> Iterator[Postgres]:
    """Give a server that runs, or skip the test where none is installed."""
    programs = _programs()
    with tempfile.TemporaryDirectory(prefix="privasis-pg-") as name:  # short: a socket's path has 107 characters
        folder = Path(name)
        if somebody := _as_somebody():
            shutil.chown(folder, somebody["user"], somebody["group"])
        server = Postgres(programs, folder)
        server.make()
        server.start()
        try:
            yield server
        finally:
            server.stop()


def _programs() -> Path:
    found = sorted(_DEBIAN.glob("*/bin/initdb"))
    place = found[-1] if found else shutil.which("initdb")
    if place is None:
        pytest.skip("no PostgreSQL server is installed here: apt-get install postgresql")
    return Path(place).resolve().parent


def _as_somebody() -> dict[str, Any]:
    """As whom to run, if we are root."""
    if os.geteuid() != 0:
        return {}
    try:
        account = pwd.getpwnam(_USER)
    except KeyError:
        pytest.skip(f"PostgreSQL does not run as root, and there is no account {_USER!r}: apt-get install postgresql")
    return {"user": account.pw_name, "group": account.pw_gid}
