"""A run whose vLLM replicas live on the nodes of a cluster loses one of the nodes, and goes on with the other."""

import json
import os
import time
import urllib.request
from pathlib import Path

import pytest

from flows.config import load_run
from tests.faults.gpu_nodes import gpu_nodes, interpreter, started
from tests.faults.processes import below
from tests.faults.running import command
from tests.faults.small_runs import findings_of, rows_of

pytestmark = [pytest.mark.faults, pytest.mark.ray]

RUN = """
root = "{root}"
dataset = "small"
records = 24
shard_size = 8
in_flight = 4
seed = 7
nodes = 2
workers = 2
synthesis = {{ words = 100, refinement = {{ steps = 1, diversity = false }} }}
models = [{{ engine = {{ kind = "vllm", model = "m", place = "cluster", replicas = 2, python = "{python}" }} }}]
"""


def answered(state: Path) -> list[int]:
    """Count the answers of each server that was started and still runs."""
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    hosts = {each.port: _host(each.pid) for each in started(state)}
    counts = []
    for port, host in hosts.items():
        try:
            with opener.open(f"http://{host}:{port}/control/stats", timeout=5) as response:
                counts.append(json.loads(response.read())["requests"])
        except OSError:
            continue
    return counts


def _host(pid: int) -> str:
    """Read off a server's command line where it listens; nowhere, if it is gone."""
    try:
        arguments = Path(f"/proc/{pid}/cmdline").read_text().split("\0")
    except FileNotFoundError:
        return "127.0.0.1"
    return next((each.partition("=")[2] for each in arguments if each.startswith("--host=")), "127.0.0.1")


def test_a_run_goes_on_without_the_engine_of_a_lost_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = tmp_path / "state"
    file = tmp_path / "run.toml"
    file.write_text(RUN.format(root=tmp_path / "data", python=interpreter(state)))
    run = load_run(file, {})
    with gpu_nodes(monkeypatch, tmp_path / "cache") as nodes:
        other = nodes.add_node(num_cpus=3, num_gpus=1)
        monkeypatch.setenv("PRIVASIS_RAY_ADDRESS", nodes.address)
        raylet = other.all_processes["raylet"][0].process.pid
        with command("synthesize", file) as process:
            end = time.monotonic() + 240
            while sum(answered(state)) < 60:
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.2)
            both = answered(state)
            there = [each for each in below(raylet) if "ray::EngineHost" in each.command]
            nodes.remove_node(other, allow_graceful=False)
            assert process.wait(240) == 0
    assert len(both) == 2  # each had a share of the calls
    assert min(both) > 0
    assert len(there) == 1
    assert findings_of(run) == []
    assert len(rows_of(run)) == run.records
    assert not any(_runs(each.pid) for each in started(state))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
