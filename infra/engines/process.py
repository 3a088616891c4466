"""Starts, watches and stops a server in a child process."""

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any

_LOG_LINES = 20  # of a failed engine's log, in the error
_DYING_S = 0.5  # from a process closing its sockets to its end


class EngineFailed(Exception):
    """An engine did not start, or ended by itself. The message has the end of its log."""


class EngineProcess:
    """A running engine.

    Attributes:
        pid: of the child, which is also its process group.
        facts: what the child reported when it was ready, e.g. ``port``.
        log: file with everything it printed.
    """

    def __init__(self, name: str, child: subprocess.Popen[bytes], log: Path) -> None:
        self.pid = child.pid
        self.log = log
        self.facts: Mapping[str, Any] = {}
        self._name = name
        self._child = child

    def check(self) -> None:
        """Make sure that the engine still runs, for instance after a call could not reach it.

        Raises:
            EngineFailed: it does not.
        """
        with suppress(subprocess.TimeoutExpired):
            status = self._child.wait(_DYING_S)
            raise EngineFailed(self._message(f"ended by itself ({_status_text(status)})"))

    def wait_until_ready(self, within_s: float) -> None:
        """Wait for the child's report.

        Raises:
            EngineFailed: it ended before, or took longer.
        """
        report = _read_line(self._pipe(), time.monotonic() + within_s)
        if report is None:
            raise EngineFailed(self._message(f"was not ready within {within_s:g} s"))
        if not report:
            raise EngineFailed(self._message(f"ended before it was ready ({_status_text(self._child.wait())})"))
        self.facts = json.loads(report)

    def stop(self, grace_s: float) -> None:
        """End the child and its group: SIGTERM, then SIGKILL after ``grace_s``. Twice does no harm."""
        if self._child.poll() is None:
            os.killpg(self.pid, signal.SIGTERM)
            try:
                self._child.wait(grace_s)
            except subprocess.TimeoutExpired:
                os.killpg(self.pid, signal.SIGKILL)
                self._child.wait()
        for pipe in (self._child.stdin, self._child.stdout):
            if pipe is not None:
                pipe.close()

    def _pipe(self) -> IO[bytes]:
        assert self._child.stdout is not None  # launch() opened it
        return self._child.stdout

    def _message(self, what: str) -> str:
        lines = self.log.read_text(encoding="utf-8", errors="replace").splitlines()
        tail = "\n".join(lines[-_LOG_LINES:]) or "(empty)"
        return f"{self._name} {what}; the end of its log {self.log}:\n{tail}"


@contextmanager
def launch(
    module: str,
    arguments: Sequence[str] = (),
    *,
    log: Path,
    ready_within_s: float | None,
    grace_s: float = 5.0,
    environment: Mapping[str, str] = MappingProxyType({}),
) -> Iterator[EngineProcess]:
    """Run ``python -m module`` in a process group of its own, as long as the context lasts.

    The module must talk to us through ``infra.engines.child.Parent``. It ends with the context, and with this process
    however that ends. Ctrl-C does not reach it directly: the context stops it when the exception passes.

    Args:
        module: what to run.
        arguments: its command line; anyone on the machine can read it.
        log: file for what it prints; written anew.
        ready_within_s: from start to the report; None leaves it to the caller to wait, several start at once then.
        grace_s: from SIGTERM to SIGKILL.
        environment: added to ours; secrets go here.

    Raises:
        EngineFailed: it was not ready in time, or ended before.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as sink:
        child = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env=os.environ | environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=sink,
            start_new_session=True,
        )
    process = EngineProcess(module, child, log)
    try:
        if ready_within_s is not None:
            process.wait_until_ready(ready_within_s)
        yield process
    finally:
        process.stop(grace_s)


def _read_line(pipe: IO[bytes], deadline: float) -> bytes | None:
    """Return the first line, what came of it before the end of the pipe, or None at the deadline."""
    line = b""
    while not line.endswith(b"\n"):
        ready, _, _ = select.select([pipe], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            return None
        chunk = os.read(pipe.fileno(), 4096)
        if not chunk:
            return line
        line += chunk
    return line


def _status_text(status: int) -> str:
    return f"signal {signal.Signals(-status).name}" if status < 0 else f"exit status {status}"
