import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from infra.ray.cluster import ClusterUnusable, Size, cluster, wait_for

# Works on a cluster of its own until it is told to stop, then ends in order.
PROGRAM = """
import sys
from functools import partial
from infra.interrupts import interrupts
from infra.ray.cluster import cluster
from infra.ray.keeper import LocalKeeper
from infra.ray.worker import JobStopped, WorkerPool
from tasks.diversity.pool import Reservoir
from tests.infra.ray.jobs import hear_nothing

from pathlib import Path
here = Path(sys.argv[1])
with cluster(None):
    import ray
    host, _ = ray.get_runtime_context().gcs_address.split(":")
    session = ray._private.worker.global_worker.node.get_session_dir_path()
    with WorkerPool(1, LocalKeeper(Reservoir(seed=1))) as pool, interrupts(partial(pool.stop, 0.1)) as interrupt:
        print(host, session, flush=True)
        try:
            pool.submit("part-0000", partial(hear_nothing, here))
        except JobStopped as stopped:
            print(stopped, flush=True)
sys.exit(interrupt.exit_code)
"""


def start(here: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", PROGRAM, str(here)],
        env={name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
        | {"RAY_ADDRESS": "127.0.0.1:1", "PYTHONWARNINGS": "default"},  # neither a stray address nor a warning matters
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def processes_of(session: str) -> list[str]:
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if session in entry.read_text(errors="replace"):
                found.append(entry.parent.name)
        except OSError:  # it has ended in the meantime
            continue
    return found


def wait_until(there: Path) -> None:
    end = time.monotonic() + 120
    while not there.exists():
        assert time.monotonic() < end
        time.sleep(0.02)


@pytest.mark.ray
def test_a_cluster_of_our_own_is_on_loopback_silent_and_ends_in_order(tmp_path: Path) -> None:
    with start(tmp_path) as program:
        assert program.stdout is not None
        host, session = program.stdout.readline().split()
        assert host == "127.0.0.1"
        assert processes_of(session) != []
        wait_until(tmp_path / "pid")
        program.send_signal(signal.SIGTERM)
        out, err = program.communicate(timeout=60)
    assert out == "part-0000: stopped before its end; run it again and it goes on\n"
    assert [line for line in err.splitlines() if not line.startswith("Stopping: ")] == []
    assert program.returncode == 143
    assert (tmp_path / "flushed").exists()
    assert processes_of(session) == []


@pytest.mark.ray
@pytest.mark.faults
def test_a_cluster_of_our_own_dies_with_a_killed_driver(tmp_path: Path) -> None:
    with start(tmp_path) as program:
        assert program.stdout is not None
        _, session = program.stdout.readline().split()
        program.kill()
    end = time.monotonic() + 60
    while processes_of(session):
        assert time.monotonic() < end, f"still there: {processes_of(session)}"
        time.sleep(0.1)


@pytest.mark.ray
def test_an_attached_cluster_has_what_its_nodes_have_together(two_nodes: Size) -> None:
    assert two_nodes == Size(nodes=2, cpus=4, gpus=0)


@pytest.mark.ray
def test_a_cluster_too_small_is_an_error_with_both_sizes(two_nodes: Size) -> None:
    with pytest.raises(ClusterUnusable, match=r"2 nodes, 4 CPUs, 0 GPUs .* 2 nodes, 1 CPU, 8 GPUs were asked for: add"):
        wait_for(Size(nodes=2, gpus=8), timeout_s=0.1)


@pytest.mark.ray
def test_a_second_cluster_at_once_is_refused_and_the_first_stays(two_nodes: Size) -> None:
    with pytest.raises(ClusterUnusable, match="connected to Ray already"), cluster(None):
        pass
    assert wait_for(two_nodes, timeout_s=0) == two_nodes


@pytest.mark.parametrize("address", ["auto", "local", "", "ray://10.0.0.1:10001", "head:", ":6379"])
def test_only_a_named_head_is_an_address(address: str) -> None:
    with pytest.raises(ClusterUnusable, match="is not the host:port of a Ray head"), cluster(address):
        pass


def test_more_nodes_than_a_cluster_of_our_own_can_have_are_refused_before_it_starts() -> None:
    with pytest.raises(ClusterUnusable, match=r"^3 nodes, 1 CPU, 0 GPUs were asked for.*PRIVASIS_RAY_ADDRESS"):  # noqa: SIM117
        with cluster(None, at_least=Size(nodes=3), timeout_s=0):
            pass


def test_an_address_where_nobody_answers_is_an_error_not_a_local_cluster() -> None:
    with pytest.raises(ClusterUnusable, match=r"no Ray cluster answers at 127\.0\.0\.1:1 "):  # noqa: SIM117
        with cluster("127.0.0.1:1", timeout_s=0.3):
            pass


@pytest.mark.parametrize(
    ("asked", "covered"),
    [(Size(2, 4, 1), True), (Size(3, 4, 1), False), (Size(2, 4.5, 1), False), (Size(2, 4, 2), False)],
)
def test_every_part_of_the_size_counts(asked: Size, covered: bool) -> None:
    assert Size(nodes=2, cpus=4, gpus=1).covers(asked) is covered
