"""One limit for workers in several processes, through the actor; a worker and the limiter itself are killed."""

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import pytest

from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import start
from infra.llm.connect import Endpoint
from infra.ray.cluster import Size
from infra.ray.keeper import LocalKeeper
from infra.ray.limiter import ray_limiter
from infra.ray.worker import WorkerDied, WorkerPool
from tasks.diversity.pool import Reservoir
from tests.infra.llm.rates import fastest
from tests.infra.ray.jobs import ask_until

pytestmark = pytest.mark.ray
PER_S = 1500
WORKERS = 3


def test_workers_in_three_processes_share_one_limit_and_lose_nothing_with_one_of_them(
    two_nodes: Size, tmp_path: Path
) -> None:
    with (
        start(SimulatorConfig(latency_ms=50, tokens_per_minute=60 * PER_S)) as simulator,
        ray_limiter() as limiter,
        WorkerPool(WORKERS, LocalKeeper(Reservoir(seed=1)), limiter) as pool,
        ThreadPoolExecutor(WORKERS) as threads,
    ):
        endpoint = Endpoint(
            model="simulator",
            base_url=simulator.base_url,
            api_key_env=None,
            max_in_flight=24,
            tokens_per_minute=60 * PER_S,
        )
        running = [
            threads.submit(pool.submit, f"job-{number}", partial(ask_until, tmp_path, number, endpoint))
            for number in range(WORKERS)
        ]

        try:
            simulator.wait(50)
            time.sleep(1)
            assert fastest(simulator, PER_S) == pytest.approx(PER_S, rel=0.1)
            os.kill(int((tmp_path / "pid-0").read_text()), signal.SIGKILL)
            with pytest.raises(WorkerDied):
                running[0].result(timeout=30)
            time.sleep(1)
            assert fastest(simulator, PER_S) == pytest.approx(PER_S, rel=0.1)  # two may have what three had
        finally:
            (tmp_path / "end").touch()  # else the threads would wait for their jobs for ever
        for job in running[1:]:
            assert job.result(timeout=60) > 0
        seen = simulator.statistics()
    assert set(seen.answers) == {"ok"}
    assert seen.peak <= 24
