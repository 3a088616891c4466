"""A run dies at any point, the same command is given again, and nothing is lost, doubled or paid for twice."""

import os
import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from flows.config import RunConfig, load_run
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from tasks.synthesis.config import RefinementConfig
from tests.faults.forked import FORKED
from tests.faults.processes import below, left_after, the_one
from tests.faults.running import arrived, command, finish, is_agent, run_file
from tests.faults.small_runs import findings_of, make, past_of, rows_of, run_on

pytestmark = pytest.mark.faults

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
        finish(make, run)
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
    finish(make, run)

    seen = simulator.statistics()
    assert sum(times - 1 for times in seen.repeated.values()) == in_flight
    rows, past = rows_of(run), past_of(run, simulator.dimension)
    assert seen.bodies == past.requests
    assert past.calls == sum(row["calls"] for row in rows.values())  # no turn was taken that no row has come of
    assert findings_of(run) == []
    assert comparable(rows, diversity) == comparable(expected.rows, diversity)


def comparable(rows: dict[str, dict[str, Any]], diversity: bool) -> dict[str, dict[str, Any]]:
    """Leave out what depends on the pool, where there is one."""
    left_out = FROM_THE_POOL if diversity else set()
    return {name: {key: value for key, value in row.items() if key not in left_out} for name, row in rows.items()}


# --- through Prefect and Ray ---

DYING_S = 20  # what works for a run, from the death of the command
LINGERING_S = 120  # agents of Ray that work for nobody, and wait a minute for their head


@pytest.mark.ray
def test_a_worker_the_command_and_the_node_die_one_after_the_other(
    undisturbed: dict[bool, Undisturbed], tmp_path: Path
) -> None:
    expected = undisturbed[False]
    with start(SimulatorConfig(seed=SEED, latency_ms=300, latency_jitter=0.5)) as simulator:
        file = run_file(simulator, tmp_path)
        run = load_run(file, {})
        in_flight = run.shards_each * run.in_flight

        with command("synthesize", file) as process:
            simulator.wait(30, timeout_s=180)
            worker = the_one(below(process.pid), "ray::ShardWorker")
            os.kill(worker.pid, signal.SIGKILL)
            simulator.wait(70)  # another worker has taken over
            orphans = below(process.pid)
            assert worker not in orphans
            process.kill()
        assert left_after([each for each in orphans if not is_agent(each)], DYING_S) == []

        before = simulator.statistics().requests
        with command("synthesize", file) as process:
            simulator.wait(before + 30, timeout_s=180)
            node = the_one(found := below(process.pid), "raylet/raylet")
            for each in (node, *(one for one in found if one.parent == node.pid)):
                os.kill(each.pid, signal.SIGKILL)
            assert process.wait(180) == 3  # something outside is missing: run it again
        with command("synthesize", file) as process:
            assert process.wait(180) == 0
        seen = simulator.statistics()

    assert left_after(orphans, LINGERING_S) == []
    assert sum(times - 1 for times in seen.repeated.values()) <= 3 * in_flight
    assert seen.bodies == past_of(run, simulator.dimension).requests == expected.requests
    assert findings_of(run) == []
    assert rows_of(run) == expected.rows
