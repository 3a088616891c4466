"""A Ray cluster on this machine whose nodes say that they have GPUs, and an interpreter whose vLLM is the simulator."""

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from infra.ray.cluster import prepare_environment
from tests.infra.engines import simulated_vllm


@contextmanager
def gpu_nodes(monkeypatch: pytest.MonkeyPatch, cache: Path) -> Iterator[Any]:
    """Start the head of a cluster, with one GPU; others can join and leave."""
    prepare_environment()
    monkeypatch.setenv("RAY_health_check_period_ms", "1000")  # a dead node is noticed in seconds, not in half a minute
    monkeypatch.setenv("RAY_health_check_timeout_ms", "5000")
    monkeypatch.setenv("PRIVASIS_CACHE", str(cache))
    monkeypatch.delenv("VLLM_API_KEY", raising=False)  # nobody has to set one
    before = signal.getsignal(signal.SIGTERM)
    from ray.cluster_utils import Cluster

    nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 3, "num_gpus": 1, "include_dashboard": False})
    try:
        yield nodes
    finally:
        nodes.shutdown()
        signal.signal(signal.SIGTERM, before)  # each node set one


def interpreter(state: Path) -> Path:
    """Write an interpreter that starts the simulator, whatever module it is asked for."""
    state.mkdir(exist_ok=True)
    script = state / "python"
    script.write_text(
        f'#!/bin/sh\nPYTHONPATH={Path.cwd()} exec {sys.executable} {simulated_vllm.__file__} {state} "$@"\n'
    )
    script.chmod(0o755)
    return script


@dataclass(frozen=True)
class Started:
    """A server process that was started, as it says itself."""

    pid: int
    port: int
    gpus: str


def started(state: Path) -> list[Started]:
    file = state / "started"
    lines = file.read_text().splitlines() if file.exists() else []
    return [Started(int(pid), int(port), gpus) for pid, port, gpus in (line.split(" ") for line in lines)]
