"""The stack's worker, server and database die in the middle of a deployed run; the run ends as if nothing had been."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from flows.config import RunConfig
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.shards.lease import LeaseState
from infra.stack.automations import SILENT_S
from infra.stack.control import leftovers
from infra.stack.environment import client_environment
from infra.stack.processes import marked
from infra.stack.registration import deploy, read_deployments
from tasks.synthesis.config import RefinementConfig
from tests.faults.postgres import Postgres, postgres
from tests.faults.processes import below, left_after
from tests.faults.running import arrived, finish
from tests.faults.small_runs import findings_of, make, rows_of, run_on, store_of
from tests.faults.stacks import Stack, stack

pytestmark = [pytest.mark.faults, pytest.mark.ray]

SOON = 20  # calls: the run is under way
RECOVERED_S = 60  # until the supervisor has a part up again
CANCELLED_S = 30  # after that, Prefect kills what is left


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig(seed=3, latency_ms=200, latency_jitter=0.5)) as running:
        yield running


@pytest.fixture(scope="module")
def database() -> Iterator[Postgres]:
    with postgres() as running:
        yield running


@pytest.fixture(scope="module")
def up(database: Postgres, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with stack(tmp_path_factory.mktemp("stack"), PRIVASIS_DATABASE_URL=database.url) as running:
        yield running


@pytest.fixture(scope="module")
def silent(up: Stack) -> str:
    """A run outside of the stack's worker, which dies after its first heartbeat; its death is noticed much later."""
    code = "from prefect import flow; import time; flow(name='silent')(lambda: time.sleep(600))()"
    environment = up.environment | client_environment(up.state.config) | {"PREFECT_FLOWS_HEARTBEAT_FREQUENCY": "30"}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, stderr=subprocess.DEVNULL) as process:
        try:
            beats = {"filter": {"event": {"name": ["prefect.flow-run.heartbeat"]}}}
            end = time.monotonic() + 60
            while not (events := up.api.post("/events/filter", beats)["events"]):
                assert time.monotonic() < end
                time.sleep(1)
        finally:
            process.kill()
    return str(events[0]["resource"]["prefect.resource.id"]).removeprefix("prefect.flow-run.")


@pytest.fixture(scope="module")
def undisturbed(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    run = run_of(simulator, tmp_path_factory.mktemp("undisturbed"))
    finish(make, run)
    return rows_of(run)


def run_of(simulator: Simulator, root: Path) -> RunConfig:
    run = run_on(simulator, root, records=12, shard_size=4)
    refinement = RefinementConfig(steps=1, diversity=False)  # with it, rows depend on the order in which records end
    return run.model_copy(update={"synthesis": run.synthesis.model_copy(update={"refinement": refinement})})


def begin(up: Stack, simulator: Simulator, run: RunConfig) -> str:
    """Start a run, and wait until it is in the middle of its work."""
    simulator.reset()
    flow_run = up.begin(run)
    simulator.wait(SOON, timeout_s=300)
    return flow_run


def check(up: Stack, run: RunConfig, expected: dict[str, dict[str, Any]]) -> None:
    assert rows_of(run) == expected
    assert findings_of(run) == []
    assert up.api.flow_runs("process", ("RUNNING", "PENDING", "CANCELLING")) == []


def lease_files(run: RunConfig) -> list[Path]:
    folder = store_of(run).layout.lease
    assert isinstance(folder, Path)
    return sorted(folder.glob("*.json"))


def wait_for_restart(up: Stack, part: str) -> None:
    end = time.monotonic() + RECOVERED_S
    while not any(each.name == part and each.ready and each.restarts == 1 for each in up.state.parts):
        assert time.monotonic() < end, up.state
        time.sleep(0.3)


def test_a_run_is_picked_up_when_its_worker_is_killed_and_when_its_process_is(
    up: Stack, silent: str, simulator: Simulator, undisturbed: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    run = run_of(simulator, tmp_path)
    flow_run = begin(up, simulator, run)
    os.kill(up.pid("worker"), signal.SIGKILL)
    wait_for_restart(up, "worker")
    up.wait(flow_run, ("RUNNING",))
    for process in psutil.Process(up.pid("worker")).children(recursive=True):
        process.kill()
    up.wait(flow_run, ("CRASHED",))
    assert up.wait(flow_run)["run_count"] == 3
    check(up, run, undisturbed)


def test_a_run_outlives_the_server_and_its_database(
    up: Stack,
    database: Postgres,
    simulator: Simulator,
    undisturbed: dict[str, dict[str, Any]],
    tmp_path: Path,
) -> None:
    run = run_of(simulator, tmp_path)
    flow_run = begin(up, simulator, run)
    os.kill(up.pid("server"), signal.SIGKILL)
    simulator.wait(simulator.statistics().requests + 10)  # it goes on meanwhile
    wait_for_restart(up, "server")
    database.stop(signal.SIGQUIT)
    time.sleep(2)
    database.start()
    ended = up.wait(flow_run)
    assert ended["run_count"] == 1
    check(up, run, undisturbed)


def test_a_run_is_cancelled_over_rest_and_a_new_one_ends_what_it_began(
    up: Stack, simulator: Simulator, undisturbed: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    run = run_of(simulator, tmp_path)
    flow_run = begin(up, simulator, run)
    makers = [each for each in below(up.pid("ray")) if "ShardWorker" in each.command]
    processes = below(up.pid("worker")) + makers
    assert makers
    assert len(processes) > len(makers)
    assert up.api.set_state(flow_run, "CANCELLING", "A test cancels it.") == "ACCEPT"
    up.wait(flow_run, ("CANCELLED",), CANCELLED_S)
    assert left_after(processes, within_s=15) == []
    leases = [LeaseState.model_validate_json(file.read_bytes()) for file in lease_files(run)]
    assert leases
    assert all(lease.released for lease in leases)
    done = arrived(simulator)
    again = up.begin(run)
    assert up.wait(again)["run_count"] == 1
    assert simulator.statistics().requests > done  # there was something left to do
    check(up, run, undisturbed)


def test_what_is_switched_in_the_dashboard_outlives_a_registration(up: Stack, tmp_path: Path) -> None:
    one = up.deployment
    (schedule,) = one["schedules"]
    (automation,) = up.api.get(f"/automations/related-to/prefect.deployment.{one['id']}")
    assert (schedule["active"], automation["enabled"], one["paused"]) == (False, False, False)
    up.api.send("PATCH", f"/deployments/{one['id']}/schedules/{schedule['id']}", {"active": True})
    up.api.send("PATCH", f"/automations/{automation['id']}", {"enabled": True})
    config = up.state.config
    environment = up.environment | client_environment(config)
    deploy(up.api, read_deployments(up.deployments), config.project, environment, tmp_path / "log")
    (schedule,) = up.deployment["schedules"]
    (again,) = up.api.get(f"/automations/related-to/prefect.deployment.{one['id']}")
    assert (schedule["active"], again["enabled"], up.deployment["paused"]) == (True, True, False)
    assert again["id"] != automation["id"]  # it was made anew


def test_a_run_that_fell_silent_has_crashed(up: Stack, silent: str) -> None:
    assert up.wait(silent, ("CRASHED",), within_s=SILENT_S + 60)["state"]["message"].startswith("No heartbeat")


def test_no_task_run_of_the_runs_above_stays_open(up: Stack) -> None:
    end = time.monotonic() + 60
    while up.open_task_runs():  # what is lost of them is found out half a minute after the run's end
        assert time.monotonic() < end
        time.sleep(1)


def test_down_ends_a_run_and_every_process_and_what_was_made_stays(
    up: Stack, simulator: Simulator, undisturbed: dict[str, dict[str, Any]], tmp_path: Path
) -> None:
    run = run_of(simulator, tmp_path)
    begin(up, simulator, run)
    state = up.state
    begun = time.monotonic()
    down = up.command("down")
    assert down.returncode == 0
    assert time.monotonic() - begun < 90
    assert leftovers(state) == marked(state.mark) == []
    assert up.command("ps").returncode == 3
    finish(make, run)  # no lease of the ended run is in the way
    assert rows_of(run) == undisturbed
