"""A sanitization dies at any point, the same command is given again, and nothing is lost, doubled or paid for twice."""

import os
import random
import shutil
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from flows.config import RunConfig, load_run
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tests.faults.forked import FORKED
from tests.faults.processes import below, left_after, the_one
from tests.faults.running import arrived, command, finish, is_agent, run_file
from tests.faults.small_runs import make, run_on, store_of
from tests.faults.small_triplets import faults_of, outcomes_of, replies_of, sanitize

pytestmark = pytest.mark.faults

POINTS = 12
SEED = 3
DYING_S = 20


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig(seed=SEED, latency_ms=10, latency_jitter=0.5)) as running:
        yield running


class Undisturbed:
    """A sanitization that nobody ended, and how many calls came to the door for it."""

    def __init__(self, simulator: Simulator, root: Path) -> None:
        run = run_of(simulator, root)
        finish(make, run)
        self.records = root / "records"
        shutil.copytree(root / run.dataset, self.records)
        simulator.reset()
        finish(sanitize, run)
        seen = simulator.statistics()
        self.rows, self.requests = outcomes_of(run), seen.requests
        assert self.rows.keys() == set(store_of(run).read("records", ["record_id"])["record_id"].to_pylist())
        assert seen.repeated == {}
        assert replies_of(run) == seen.requests
        assert faults_of(run) == []

    def lend(self, root: Path) -> None:
        """Put the records where a run looks for them."""
        shutil.copytree(self.records, root / "small")


def run_of(simulator: Simulator, root: Path) -> RunConfig:
    return run_on(simulator, root, synthesis=SynthesisConfig(words=100, refinement=RefinementConfig(steps=0)))


@pytest.fixture(scope="module")
def undisturbed(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Undisturbed:
    return Undisturbed(simulator, tmp_path_factory.mktemp("undisturbed"))


@pytest.mark.parametrize("point", range(POINTS))
def test_a_killed_process_goes_on_where_it_stood(
    simulator: Simulator, undisturbed: Undisturbed, tmp_path: Path, point: int
) -> None:
    run = run_of(simulator, tmp_path)
    undisturbed.lend(tmp_path)
    rng = random.Random(f"kill {point}")
    kills = sorted(rng.sample(range(1, undisturbed.requests - 20), 1 + point % 2))

    simulator.reset()
    in_flight = 0
    for kill in kills:
        process = FORKED.Process(target=sanitize, args=(run,))
        process.start()
        simulator.wait(kill + in_flight)  # what is asked again comes to the door again
        process.kill()
        process.join()
        in_flight = arrived(simulator) - replies_of(run)
        # Of each record at work, the chunks of one target may be asked about at once.
        assert 0 <= in_flight <= len(kills) * run.shards_each * run.in_flight * most_chunks(undisturbed)
    finish(sanitize, run)

    seen = simulator.statistics()
    assert sum(times - 1 for times in seen.repeated.values()) == in_flight
    assert seen.bodies == replies_of(run) == sum(row["calls"] for row in outcomes_of(run).values())
    assert faults_of(run) == []
    assert outcomes_of(run) == undisturbed.rows


def most_chunks(undisturbed: Undisturbed) -> int:
    return max(len(row["chunks"]) for row in undisturbed.rows.values() if "chunks" in row)


@pytest.mark.ray
def test_a_worker_and_the_command_die_one_after_the_other(undisturbed: Undisturbed, tmp_path: Path) -> None:
    undisturbed.lend(tmp_path / "data")
    with start(SimulatorConfig(seed=SEED, latency_ms=300, latency_jitter=0.5)) as simulator:
        file = run_file(simulator, tmp_path)
        run = load_run(file, {})
        with command("sanitize", file) as process:
            simulator.wait(60, timeout_s=180)
            worker = the_one(below(process.pid), "ray::ShardWorker")
            os.kill(worker.pid, signal.SIGKILL)
            simulator.wait(150, timeout_s=180)  # another worker has taken over
            orphans = below(process.pid)
            assert worker not in orphans
            process.kill()
        assert left_after([each for each in orphans if not is_agent(each)], DYING_S) == []
        with command("sanitize", file) as process:
            assert process.wait(180) == 0
        seen = simulator.statistics()
    assert sum(times - 1 for times in seen.repeated.values()) <= 2 * run.shards_each * run.in_flight * most_chunks(
        undisturbed
    )
    assert seen.bodies == replies_of(run) == undisturbed.requests
    assert faults_of(run) == []
    assert outcomes_of(run) == undisturbed.rows
