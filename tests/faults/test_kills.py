"""A run dies at any point, the same command is given again, and nothing is lost, doubled or paid for twice."""

import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from flows.config import RunConfig, load_run
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from tasks.synthesis.config import RefinementConfig
from tests.faults import warm
from tests.faults.processes import Found, below, left_after, the_one
from tests.faults.small_runs import findings_of, make, past_of, rows_of, run_on

pytestmark = pytest.mark.faults

# Forked from a process that has imported everything once: a run costs a second.
FORKED = multiprocessing.get_context("forkserver")
FORKED.set_forkserver_preload([warm.__name__])
POINTS = 12
SEED = 3
FROM_THE_POOL = {"text", "attributes", "groups", "refinement", "embedding", "words", "domain", "subcategory", "tokens"}


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig(seed=SEED, latency_ms=10, latency_jitter=0.5)) as running:
        yield running


@pytest.fixture(scope="module")
def undisturbed(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> dict[bool, "Undisturbed"]:
    return {
        diversity: Undisturbed(simulator, run_of(simulator, tmp_path_factory.mktemp("undisturbed"), diversity))
        for diversity in (False, True)
    }


class Undisturbed:
    """A run that nobody ended, and how many calls came to the door for it."""

    def __init__(self, simulator: Simulator, run: RunConfig) -> None:
        simulator.reset()
        finish(run)
        seen = simulator.statistics()
        self.rows, self.requests = rows_of(run), seen.requests
        assert len(self.rows) == run.records
        assert seen.repeated == {}
        assert past_of(run, simulator.dimension).requests == seen.requests
        assert findings_of(run) == []


def run_of(simulator: Simulator, root: Path, diversity: bool) -> RunConfig:
    run = run_on(simulator, root)
    refinement = RefinementConfig(steps=1, diversity=diversity)
    return run.model_copy(update={"synthesis": run.synthesis.model_copy(update={"refinement": refinement})})


def finish(run: RunConfig) -> None:
    process = FORKED.Process(target=make, args=(run,))
    process.start()
    process.join(60)
    assert process.exitcode == 0


@pytest.mark.parametrize("point", range(POINTS))
def test_a_killed_process_goes_on_where_it_stood(
    simulator: Simulator, undisturbed: dict[bool, Undisturbed], tmp_path: Path, point: int
) -> None:
    diversity = point % 3 == 0  # the pool depends on the order in which records end: then not all is the same
    expected = undisturbed[diversity]
    run = run_of(simulator, tmp_path, diversity)
    rng = random.Random(f"kill {point}")
    kills = sorted(rng.sample(range(1, expected.requests - 20), 1 + point % 2))

    simulator.reset()
    in_flight = 0
    for kill in kills:
        process = FORKED.Process(target=make, args=(run,))
        process.start()
        simulator.wait(kill + in_flight)  # what is asked again comes to the door again
        process.kill()
        process.join()
        in_flight = arrived(simulator) - past_of(run, simulator.dimension).requests
        assert 0 <= in_flight <= len(kills) * run.shards_each * run.in_flight
    finish(run)

    seen = simulator.statistics()
    assert sum(times - 1 for times in seen.repeated.values()) == in_flight
    rows, past = rows_of(run), past_of(run, simulator.dimension)
    assert seen.bodies == past.requests
    assert past.calls == sum(row["calls"] for row in rows.values())  # no turn was taken that no row has come of
    assert findings_of(run) == []
    assert comparable(rows, diversity) == comparable(expected.rows, diversity)


def arrived(simulator: Simulator) -> int:
    """Count the calls at the door when no more come: what the dead have sent may still be on its way."""
    before, now = -1, simulator.statistics().requests
    while now != before:
        time.sleep(0.1)
        before, now = now, simulator.statistics().requests
    return now


def comparable(rows: dict[str, dict[str, Any]], diversity: bool) -> dict[str, dict[str, Any]]:
    """Leave out what depends on the pool, where there is one."""
    left_out = FROM_THE_POOL if diversity else set()
    return {name: {key: value for key, value in row.items() if key not in left_out} for name, row in rows.items()}


# --- through Prefect and Ray ---

COMMAND = [sys.executable, "-c", "from flows.cli import main; main()", "synthesize", "-c"]
RUN = """
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
ENDPOINT = 'model = "{model}", base_url = "{base_url}", api_key_env = "SIMULATOR_KEY"'
DYING_S = 20  # what works for a run, from the death of the command
LINGERING_S = 120  # agents of Ray that work for nobody, and wait a minute for their head


@pytest.mark.ray
def test_a_worker_the_command_and_the_node_die_one_after_the_other(
    undisturbed: dict[bool, Undisturbed], tmp_path: Path
) -> None:
    expected = undisturbed[False]
    with start(SimulatorConfig(seed=SEED, latency_ms=300, latency_jitter=0.5)) as simulator:
        endpoint = ENDPOINT.format(model=simulator.model, base_url=simulator.base_url)
        file = tmp_path / "run.toml"
        file.write_text(RUN.format(root=tmp_path / "data", dimension=simulator.dimension, endpoint=endpoint))
        run = load_run(file, {})
        in_flight = run.shards_each * run.in_flight

        with command(file) as process:
            simulator.wait(30, timeout_s=180)
            worker = the_one(below(process.pid), "ray::ShardWorker")
            os.kill(worker.pid, signal.SIGKILL)
            simulator.wait(70)  # another worker has taken over
            orphans = below(process.pid)
            assert worker not in orphans
            process.kill()
        assert left_after([each for each in orphans if not is_agent(each)], DYING_S) == []

        before = simulator.statistics().requests
        with command(file) as process:
            simulator.wait(before + 30, timeout_s=180)
            node = the_one(found := below(process.pid), "raylet/raylet")
            for each in (node, *(one for one in found if one.parent == node.pid)):
                os.kill(each.pid, signal.SIGKILL)
            assert process.wait(180) == 3  # something outside is missing: run it again
        with command(file) as process:
            assert process.wait(180) == 0
        seen = simulator.statistics()

    assert left_after(orphans, LINGERING_S) == []
    assert sum(times - 1 for times in seen.repeated.values()) <= 3 * in_flight
    assert seen.bodies == past_of(run, simulator.dimension).requests == expected.requests
    assert findings_of(run) == []
    assert rows_of(run) == expected.rows


@contextmanager
def command(file: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Give the command of a run; whatever happens, it does not outlive the block."""
    environment = os.environ | {
        "SIMULATOR_KEY": "none",
        "PRIVASIS_CACHE": str(file.parent / "cache"),
        "RAY_health_check_period_ms": "1000",  # a dead node is noticed in seconds, not in half a minute
        "RAY_health_check_timeout_ms": "5000",
    }
    with subprocess.Popen([*COMMAND, file], env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            yield process
        finally:
            process.kill()


def is_agent(process: Found) -> bool:
    return process.command.startswith(("ray::DashboardAgent", "ray::RuntimeEnvAgent"))
