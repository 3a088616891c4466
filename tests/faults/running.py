"""Runs that a test ends: one in a process that is quickly forked, and one that a person would start as a command."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from flows.config import RunConfig
from infra.engines.simulator.process import Simulator
from tests.faults.forked import FORKED
from tests.faults.processes import Found


def finish(make: Callable[[RunConfig], None], run: RunConfig) -> None:
    process = FORKED.Process(target=make, args=(run,))
    process.start()
    process.join(60)
    assert process.exitcode == 0


def arrived(simulator: Simulator) -> int:
    """Count the calls at the door when no more come: what the dead have sent may still be on its way."""
    before, now = -1, simulator.statistics().requests
    while now != before:
        time.sleep(0.1)
        before, now = now, simulator.statistics().requests
    return now


# --- through Prefect and Ray ---

_COMMAND = [sys.executable, "-c", "from flows.cli import main; main()"]
_RUN = """
root = "{root}"
dataset = "small"
records = 24
shard_size = 8
shards_each = 2
in_flight = 4
seed = 7
synthesis = {{ words = 100, refinement = {{ steps = 1, diversity = false }} }}
embedder = {{ kind = "openai", dimension = {dimension}, endpoint = {{ {endpoint} }} }}
models = [{{ engine = {{ kind = "openai", {endpoint}, price = {{ prompt = 0, cached = 0, completion = 0 }} }} }}]
"""
_ENDPOINT = 'model = "{model}", base_url = "{base_url}", api_key_env = "SIMULATOR_KEY"'


def run_file(simulator: Simulator, folder: Path) -> Path:
    """Write the run of ``small_runs.run_on`` as a file, with ``folder / "data"`` as its root."""
    endpoint = _ENDPOINT.format(model=simulator.model, base_url=simulator.base_url)
    file = folder / "run.toml"
    file.write_text(_RUN.format(root=folder / "data", dimension=simulator.dimension, endpoint=endpoint))
    return file


@contextmanager
def command(name: str, file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give a command of a run; whatever happens, it does not outlive the block."""
    environment = os.environ | {
        "SIMULATOR_KEY": "none",
        "PRIVASIS_CACHE": str(file.parent / "cache"),
        "RAY_health_check_period_ms": "1000",  # a dead node is noticed in seconds, not in half a minute
        "RAY_health_check_timeout_ms": "5000",
    }
    with subprocess.Popen([*_COMMAND, name, "-c", file], env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def is_agent(process: Found) -> bool:
    return process.command.startswith(("ray::DashboardAgent", "ray::RuntimeEnvAgent"))
