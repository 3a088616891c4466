import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Literal

import pytest

from infra.ray.cluster import Size
from infra.ray.keeper import LocalKeeper, ray_keeper
from infra.ray.worker import JobStopped, WorkerDied, WorkerPool
from infra.shards.lease import LeaseHeld
from tasks.diversity.pool import Reservoir
from tests.infra.ray.jobs import (
    count_one,
    find_it_taken,
    hang,
    hear_nothing,
    hold,
    pool_size,
    refuse,
    use_client,
    wait_for_the_sign,
    where,
)

pytestmark = pytest.mark.ray


def start(workers: int | Literal["cluster"], jobs_each: int = 1) -> WorkerPool:
    return WorkerPool(workers, LocalKeeper(Reservoir(seed=1)), jobs_each=jobs_each)


def until(holds: Callable[[], object]) -> None:
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end, "waited 30 s in vain"
        time.sleep(0.01)


@pytest.fixture(scope="module")
def pool(two_nodes: Size) -> Iterator[WorkerPool]:
    import ray

    # What an earlier test still holds would put both on one node.
    until(lambda: ray.available_resources().get("CPU") == 4)
    with start(workers=2) as running:
        yield running


@pytest.fixture
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as running:
        yield running


def test_workers_take_all_cpus_that_are_free(two_nodes: Size) -> None:
    import ray

    until(lambda: ray.available_resources().get("CPU") == 4)  # those of an earlier test may be on their way
    engine = ray.remote(num_cpus=1)(Reservoir).remote(seed=1)
    try:
        until(lambda: ray.available_resources().get("CPU") == 3)
        with start("cluster") as running:
            assert len([look for look in running.looks(timeout_s=30) if look is not None]) == 3
    finally:
        ray.kill(engine)


def test_workers_are_spread_over_the_nodes_and_the_idle_one_is_chosen(
    pool: WorkerPool, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    held = threads.submit(pool.submit, "held", partial(hold, tmp_path))
    until((tmp_path / "pid").exists)
    others = {pool.submit("free", where) for _ in range(3)}
    (tmp_path / "go").touch()
    node, pid = held.result()
    assert [(other != node, pid_ != pid) for other, pid_ in others] == [(True, True)]


def test_a_job_waits_while_all_workers_are_full(pool: WorkerPool, threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    for name in "ab":
        (tmp_path / name).mkdir()
        threads.submit(pool.submit, name, partial(hold, tmp_path / name))
    until(lambda: (tmp_path / "a/pid").exists() and (tmp_path / "b/pid").exists())
    third = threads.submit(pool.submit, "third", where)
    time.sleep(0.1)
    assert not third.done()
    (tmp_path / "b/go").touch()
    assert third.result(timeout=30)
    (tmp_path / "a/go").touch()


def test_progress_can_be_read_while_jobs_run(pool: WorkerPool, threads: ThreadPoolExecutor, tmp_path: Path) -> None:
    held = threads.submit(pool.submit, "part-0000", partial(hold, tmp_path))
    until(lambda: pool.progress().get("part-0000", {}).get("turns", 0) > 3)
    (tmp_path / "go").touch()
    held.result()
    assert pool.progress()["part-0000"]["turns"] > 3  # and so it stays, however quickly a job ends


def test_what_a_job_counts_is_known_though_nobody_looked_while_it_ran(pool: WorkerPool) -> None:
    pool.submit("quick", count_one)
    assert pool.progress()["quick"] == {"records": 1}


def test_what_a_job_raises_arrives_as_itself(pool: WorkerPool) -> None:
    with pytest.raises(ValueError, match=r"^shard 7: seed_id 12 twice$"):
        pool.submit("part-0007", refuse)


def test_workers_say_what_they_wait_for_and_the_pool_what_becomes_of_the_rest(
    two_nodes: Size, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    with start(workers=1) as pool:
        with pytest.raises(LeaseHeld):
            pool.submit("part-0007", find_it_taken)
        with pytest.raises(ValueError, match="shard 7"):
            pool.submit("part-0008", refuse)
        assert pool.jobs() == (0, 0, {"lease": 1, "another attempt": 1})
        pool.submit("part-0007", where)  # tried again, and done
        assert pool.jobs() == (1, 0, {"another attempt": 1})
        held = threads.submit(pool.submit, "held", partial(hold, tmp_path))
        until((tmp_path / "pid").exists)
        queued = threads.submit(pool.submit, "queued", where)
        until(lambda: pool.jobs()[2].get("worker"))
        (look,) = pool.looks()
        assert look is not None
        assert (look.pid, [job.name for job in look.jobs]) == (int((tmp_path / "pid").read_text()), ["held"])
        (tmp_path / "go").touch()
        held.result()
        queued.result()
        assert pool.jobs() == (3, 0, {"another attempt": 1})


def test_a_killed_worker_is_an_error_and_the_next_job_runs_on_its_successor(
    two_nodes: Size, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    with ray_keeper(partial(Reservoir, seed=1)) as keeper, WorkerPool(1, keeper) as pool:
        held = threads.submit(pool.submit, "part-0000", partial(hold, tmp_path))
        until((tmp_path / "pid").exists)
        dead = int((tmp_path / "pid").read_text())
        os.kill(dead, signal.SIGKILL)
        with pytest.raises(WorkerDied, match="part-0000: worker 0 died"):
            held.result(timeout=60)
        assert pool.submit("part-0000", where)[1] != dead
        assert pool.submit("part-0000", pool_size) == 0
        assert pool.progress() == {"part-0000": {}}


def test_a_stop_lets_jobs_end_and_cancels_the_late_ones(
    two_nodes: Size, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    pool = start(workers=1, jobs_each=3)
    assert [pool.submit("client", partial(use_client, tmp_path)) for _ in range(2)] == ["client"] * 2
    willing = threads.submit(pool.submit, "willing", wait_for_the_sign)
    deaf = threads.submit(pool.submit, "deaf", partial(hear_nothing, tmp_path))
    until((tmp_path / "pid").exists)
    third = threads.submit(pool.submit, "third", wait_for_the_sign)
    until(lambda: {"willing", "deaf", "third"} <= pool.progress().keys())  # all three run
    queued = threads.submit(pool.submit, "queued", where)
    until(lambda: sum(pool.jobs()[2].values()))
    pool.stop(drain_s=0.2)
    assert willing.result() == third.result() == "ended by itself"
    with pytest.raises(JobStopped, match="deaf: stopped before its end"):
        deaf.result()
    assert (tmp_path / "flushed").exists()
    for late in (queued, threads.submit(pool.submit, "later", where)):
        with pytest.raises(JobStopped, match="not started"):
            late.result()
    assert (tmp_path / "log").read_text() == "open\nclose\n"


def test_a_job_that_does_not_hear_its_cancellation_is_cut_off(
    two_nodes: Size, threads: ThreadPoolExecutor, tmp_path: Path
) -> None:
    pool = start(workers=1)
    held = threads.submit(pool.submit, "hung", partial(hang, tmp_path))
    until((tmp_path / "pid").exists)
    both = [threading.Thread(target=pool.stop, args=(0.1,)) for _ in range(2)]
    for stopping in both:
        stopping.start()
    with pytest.raises(JobStopped, match="hung: did not end in time"):
        held.result(timeout=30)
    for stopping in both:
        stopping.join(timeout=30)
        assert not stopping.is_alive()
