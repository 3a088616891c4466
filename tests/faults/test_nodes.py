"""A run on a Ray cluster of two nodes loses one of them in the middle, and goes on on the other."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.config import load_run
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import start
from infra.ray.cluster import prepare_environment
from tests.faults.processes import below
from tests.faults.running import command, run_file
from tests.faults.small_runs import findings_of, past_of, rows_of

pytestmark = [pytest.mark.faults, pytest.mark.ray]


@pytest.fixture
def nodes(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A cluster of this machine, of which another node can join and leave."""
    prepare_environment()
    monkeypatch.setenv("RAY_health_check_period_ms", "1000")  # a dead node is noticed in seconds, not in half a minute
    monkeypatch.setenv("RAY_health_check_timeout_ms", "5000")
    monkeypatch.setenv("SIMULATOR_KEY", "none")  # workers read keys where they run
    before = signal.getsignal(signal.SIGTERM)
    from ray.cluster_utils import Cluster

    cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 2, "include_dashboard": False})
    try:
        yield cluster
    finally:
        cluster.shutdown()
        signal.signal(signal.SIGTERM, before)  # each node set one


def test_a_run_goes_on_without_the_node_that_it_lost(
    nodes: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = nodes.add_node(num_cpus=2)
    monkeypatch.setenv("PRIVASIS_RAY_ADDRESS", nodes.address)
    with start(SimulatorConfig(seed=3, latency_ms=300, latency_jitter=0.5)) as simulator:
        file = run_file(simulator, tmp_path)
        file.write_text(file.read_text().replace("shards_each = 2", "shards_each = 1\nworkers = 2"))
        run = load_run(file, {})
        raylet = other.all_processes["raylet"][0].process.pid
        with command("synthesize", file) as process:
            simulator.wait(60, timeout_s=180)
            on_both = [each for each in below(raylet) if "ray::ShardWorker" in each.command]
            nodes.remove_node(other, allow_graceful=False)
            assert process.wait(180) == 0
        seen = simulator.statistics()

    assert len(on_both) == 1  # of the two: they were spread
    # What the lost one had in flight, and what it began before it saw that its node was gone.
    assert sum(times - 1 for times in seen.repeated.values()) <= 2 * run.in_flight
    assert seen.bodies == past_of(run, simulator.dimension).requests
    assert findings_of(run) == []
    assert len(rows_of(run)) == run.records
