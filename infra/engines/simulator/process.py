"""Starts a simulated server as a child process, and asks it what it has seen."""

import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import orjson

from infra.engines.simulator.config import Fault, SimulatorConfig
from infra.engines.simulator.counters import Statistics

_END_S = 10  # from closing its input to killing it


class SimulatorFailed(Exception):
    """The child process did not come up; what it had to say stands on standard error."""


@dataclass(frozen=True, slots=True)
class Simulator:
    """A running server.

    Attributes:
        base_url: where the OpenAI protocol is served, ``http://127.0.0.1:PORT/v1``.
        model: the model's name.
        dimension: length of its embeddings.
        pid: the child process.
    """

    base_url: str
    model: str
    dimension: int
    pid: int

    def statistics(self) -> Statistics:
        """Return what the server has seen so far."""
        return Statistics.model_validate_json(self._control("GET", "stats"))

    def wait(self, requests: int, timeout_s: float = 60) -> None:
        """Return when so many calls have arrived, at the door and before any answer.

        Raises:
            TimeoutError: they did not arrive in time.
        """
        self._control("GET", f"wait?requests={requests}", timeout_s)

    def reset(self) -> None:
        """Let the server forget its counts, and with them which attempt a body is at."""
        self._control("POST", "reset")

    def set_faults(self, fault_rate: float, *faults: Fault) -> None:
        """Change what goes wrong from now on: a storm begins, or ends."""
        change = {"fault_rate": fault_rate} | ({"faults": faults} if faults else {})
        self._control("POST", "faults", body=orjson.dumps(change))

    def _control(self, method: str, path: str, timeout_s: float = 60, body: bytes | None = None) -> bytes:
        url = f"{self.base_url.removesuffix('/v1')}/control/{path}"
        request = urllib.request.Request(url, data=body, method=method)
        with urllib.request.urlopen(request, timeout=timeout_s) as response:
            answer: bytes = response.read()
            return answer


@contextmanager
def start(config: SimulatorConfig) -> Iterator[Simulator]:
    """Run a simulated server for the length of a ``with`` block. It ends with this process, however that ends.

    Raises:
        SimulatorFailed: the process ended before it served.
    """
    command = [sys.executable, "-m", "infra.engines.simulator", *_flags(config)]
    # A session of its own: Ctrl-C is for its clients, which may have calls to finish.
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True) as child:
        assert child.stdin is not None
        assert child.stdout is not None
        try:
            line = child.stdout.readline()
            if not line:
                raise SimulatorFailed(f"simulator: ended with status {child.wait()} before it served")
            address = orjson.loads(line)
            yield Simulator(address["base_url"], address["model"], config.dimension, child.pid)
        finally:
            child.stdin.close()
            try:
                child.wait(_END_S)
            except subprocess.TimeoutExpired:
                child.kill()


def _flags(config: SimulatorConfig) -> list[str]:
    """Write a configuration as a command line."""
    flags = []
    for name, value in config.model_dump(exclude_none=True).items():
        values = value if isinstance(value, tuple) else (value,)
        flags += [f"--{name.replace('_', '-')}", *map(str, values)]
    return flags
