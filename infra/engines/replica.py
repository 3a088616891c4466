"""One server process that is kept alive: started again when it ends, replaced when it answers but completes nothing."""

import ctypes
import http.client
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from infra.scrape import NotMetrics, metrics_of

_POLL_S = 1.0
_ANSWER_S = 10.0  # for one look at the server
_TERM_S = 10.0  # from SIGTERM to SIGKILL
_PR_SET_PDEATHSIG = 1


class ReplicaFailed(Exception):
    """The server failed again and again without completing anything in between."""


@dataclass(frozen=True, slots=True)
class Patience:
    """How long a server may take, in seconds.

    Attributes:
        start_s: from its start to its first answer at ``/health``: loading weights, compiling.
        stall_s: with requests in hand and no token read or written. Health is progress, not ``/health``.
        failures: starts in a row that came to nothing, before we give up.
        backoff_s: before the second start in a row, doubled for each further one.
        backoff_cap_s: longest such wait.
    """

    start_s: float = 900.0
    stall_s: float = 120.0
    failures: int = 5
    backoff_s: float = 1.0
    backoff_cap_s: float = 60.0


class Replica:
    """A server at a fixed address, whatever process serves it at the moment.

    Args:
        command: starts the server; it must listen at ``url``.
        environment: of the server.
        url: root of the server, which has ``/health`` and Prometheus ``/metrics``.
        patience: see there.
        say: told of each start and end, for the log.
    """

    def __init__(
        self,
        command: Sequence[str],
        environment: Mapping[str, str],
        url: str,
        patience: Patience,
        say: Callable[[str], None],
    ) -> None:
        self._command = list(command)
        self._environment = dict(environment)
        self._url = url
        self._patience = patience
        self._say = say
        self._child: subprocess.Popen[bytes] | None = None

    def run(self, ready: Callable[[], None]) -> None:
        """Keep the server alive; returns never.

        Args:
            ready: called once, when the first process answers.

        Raises:
            ReplicaFailed: it cannot be kept alive.
        """
        failures = 0
        waiting = [ready]
        while True:
            self._child = self._start()
            reason, completed = self._watch(waiting)
            self.end()
            failures = 1 if completed else failures + 1
            self._say(f"server process {reason}, failure {failures} in a row")
            if failures >= self._patience.failures:
                raise ReplicaFailed(f"failed {failures} times in a row, at last: {reason}")
            time.sleep(min(self._patience.backoff_cap_s, self._patience.backoff_s * 2.0 ** (failures - 1)))

    def end(self) -> None:
        """End the server's process and all that it started. Twice does no harm."""
        child = self._child
        if child is None:
            return
        if child.poll() is None:
            os.killpg(child.pid, signal.SIGTERM)
            try:
                child.wait(_TERM_S)
            except subprocess.TimeoutExpired:
                self._say(f"server process {child.pid} did not end within {_TERM_S:g} s: killed")
        self.kill()
        child.wait()
        self._child = None

    def kill(self) -> None:
        """Kill the server's process group now."""
        if self._child is not None:
            try:
                os.killpg(self._child.pid, signal.SIGKILL)
            except ProcessLookupError:  # all of it has ended
                return

    def _start(self) -> subprocess.Popen[bytes]:
        child = subprocess.Popen(
            self._command,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=sys.stderr,
            start_new_session=True,  # a group of its own, which can be ended without us
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
        self._say(f"server process {child.pid} started at {self._url}")
        return child

    def _watch(self, waiting: list[Callable[[], None]]) -> tuple[str, bool]:
        """Watch the process until it has ended or has to; say why, and whether it completed anything.

        Args:
            waiting: who is told, once, that the server answers; emptied.
        """
        assert self._child is not None
        started = time.monotonic()
        while not _answers(f"{self._url}/health"):
            if (status := self._child.poll()) is not None:
                return f"ended before it answered (exit status {status})", False
            if time.monotonic() - started > self._patience.start_s:
                return f"did not answer within {self._patience.start_s:g} s", False
            time.sleep(_POLL_S)
        while waiting:
            waiting.pop()()
        seen = first = self._progress()
        moved_at = time.monotonic()
        while True:
            if (status := self._child.poll()) is not None:
                return f"ended (exit status {status})", _done(seen) > _done(first)
            time.sleep(_POLL_S)
            now = self._progress()
            if now is not None and (now.idle or seen is None or now.tokens != seen.tokens):
                seen, moved_at = now, time.monotonic()
            elif time.monotonic() - moved_at > self._patience.stall_s:
                what = "did not answer" if now is None else f"had {now.requests:g} requests in hand and moved no token"
                return f"{what} for {self._patience.stall_s:g} s", _done(seen) > _done(first)

    def _progress(self) -> "_Progress | None":
        text = _get(f"{self._url}/metrics")
        if text is None:
            return None
        try:
            metrics = metrics_of(text)
        except NotMetrics:  # cut off, by a server that ends
            return None
        return _Progress(
            requests=metrics["vllm:num_requests_running"] + metrics["vllm:num_requests_waiting"],
            tokens=metrics["vllm:generation_tokens_total"] + metrics["vllm:prompt_tokens_total"],
            done=metrics["vllm:request_success_total"],
        )


@dataclass(frozen=True, slots=True)
class _Progress:
    requests: float
    tokens: float
    done: float

    @property
    def idle(self) -> bool:
        return self.requests == 0


def _done(progress: _Progress | None) -> float:
    return 0.0 if progress is None else progress.done


def _answers(url: str) -> bool:
    return _get(url) is not None


def _get(url: str) -> str | None:
    """Return the body of an HTTP 200 at a loopback or cluster address, None where there is none."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a proxy cannot reach our own engines
    try:
        with opener.open(url, timeout=_ANSWER_S) as response:
            body: bytes = response.read()
    except (OSError, http.client.HTTPException):  # the latter of an answer that breaks off
        return None
    return body.decode(errors="replace")


def _die_with_parent() -> None:
    """Have the kernel kill the server should its supervisor be killed. Runs between fork and exec."""
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
