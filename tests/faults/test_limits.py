"""A run under limits and storms ends complete, and asks hardly more often than it needs."""

import threading
from pathlib import Path

import pytest

from flows.config import MixedEngine, Remote
from infra.engines.simulator.config import Fault, SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.llm.prices import FREE
from tasks.synthesis.seeds import record_id
from tests.faults.small_runs import findings_of, make, rows_of, run_on

pytestmark = pytest.mark.faults

RECORDS = 36
STORMS: list[tuple[float, tuple[Fault, ...]]] = [  # what goes wrong, one after the other
    (0.3, ("server_error", "unavailable")),
    (1.0, ("rate_limited",)),
    (0.25, ("hang", "error_in_200", "reset", "rate_limited_bare")),
]
EACH = 60  # calls, however long they take on this machine
PER_S = 16_000


def test_storms_and_a_token_limit_cost_less_than_a_third_more_calls(tmp_path: Path) -> None:
    with start(SimulatorConfig(seed=2, latency_ms=30, tokens_per_minute=60 * PER_S)) as simulator:
        engine = Remote(
            model=simulator.model,
            base_url=simulator.base_url,
            api_key_env=None,
            price=FREE,
            request_timeout_s=8,  # far beyond what a busy machine needs: only calls that hang run into it
            tokens_per_minute=60 * PER_S,
            max_in_flight=32,
        )
        run = run_on(
            simulator, tmp_path, models=(MixedEngine(engine=engine),), records=RECORDS, shard_size=30, in_flight=16
        )
        weather = threading.Thread(target=_storms, args=(simulator,))
        weather.start()
        make(run)
        weather.join()
        rows, seen = rows_of(run), simulator.statistics()
    assert set(rows) == {record_id(run.seed, index) for index in range(RECORDS)}
    assert sum("text" in row for row in rows.values()) >= 0.98 * RECORDS
    assert findings_of(run) == []
    assert {"server_error", "rate_limited", "error_in_200", "hang"} <= set(seen.answers)
    assert seen.requests / seen.answers["ok"] < 1.3


def _storms(simulator: Simulator) -> None:
    for number, (share, faults) in enumerate(STORMS, 1):
        simulator.wait(EACH * number)
        simulator.set_faults(share, *faults)
    simulator.wait(EACH * (len(STORMS) + 1))
    simulator.set_faults(0.0)
