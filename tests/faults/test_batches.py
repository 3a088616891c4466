"""Labels and attributes by the Batch API: the same records at another price, and nothing is sent twice after a kill."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from flows.cli import app
from flows.commands.cost import lines_of
from flows.config import MixedEngine, Remote, RunConfig
from infra.engines.simulator.config import SimulatorConfig
from infra.engines.simulator.process import Simulator, start
from infra.llm.batch_ledger import BatchLedger
from infra.llm.connect import Batching
from infra.llm.prices import Price
from infra.shards.ranges import ShardRange
from tests.faults.forked import FORKED
from tests.faults.running import finish
from tests.faults.small_runs import findings_of, make, past_of, rows_of, run_on, store_of

pytestmark = pytest.mark.faults

PRICE = Price(prompt=2, cached=0.5, completion=8)
QUICKLY = Batching(linger_s=1.0, poll_s=0.1)
RECORDS = 8


@pytest.fixture
def simulator() -> Iterator[Simulator]:
    with start(SimulatorConfig(seed=4, batch_s=3)) as running:
        yield running


def run_of(simulator: Simulator, root: Path, batch: Batching | None) -> RunConfig:
    engine = Remote(model=simulator.model, base_url=simulator.base_url, api_key_env=None, price=PRICE)
    models = (MixedEngine(engine=engine, batch=batch),)
    return run_on(simulator, root, records=RECORDS, in_flight=RECORDS, models=models)


def apart_from_cost(run: RunConfig) -> dict[str, dict[str, Any]]:
    return {name: row | {"cost_usd": 0.0} for name, row in rows_of(run).items()}


def test_batches_make_the_same_records_and_bill_half_for_their_steps(simulator: Simulator, tmp_path: Path) -> None:
    usual, batched = run_of(simulator, tmp_path / "usual", None), run_of(simulator, tmp_path / "batched", QUICKLY)
    make(usual)
    make(batched)
    assert apart_from_cost(usual) == apart_from_cost(batched)
    costs = [
        {line.group[0]: line.cost_usd for line in lines_of([run.root / run.dataset], ["step"])}
        for run in (usual, batched)
    ]
    assert costs[0].keys() == costs[1].keys()
    for step, before in costs[0].items():
        assert costs[1][step] == pytest.approx(before / 2 if step in ("attributes", "label") else before), step
    assert sum(row["cost_usd"] for row in rows_of(batched).values()) == pytest.approx(sum(costs[1].values()))
    assert not list(store_of(batched).layout.batches.iterdir())  # what came with them is in the journal
    assert findings_of(batched) == []


@pytest.mark.parametrize("cancel", [False, True])
def test_whoever_comes_back_after_a_kill_uses_the_batch_that_was_sent(
    simulator: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cancel: bool
) -> None:
    run = run_of(simulator, tmp_path, QUICKLY)
    process = FORKED.Process(target=make, args=(run,))
    process.start()
    ledger = store_of(run).layout.batch_ledger(ShardRange(0, RECORDS), simulator.model)
    while not (ledger.exists() and BatchLedger(ledger).ids()):
        time.sleep(0.05)
        assert process.is_alive()
    process.kill()
    process.join()
    file = tmp_path / "run.toml"
    file.write_text(RUN.format(root=tmp_path, base_url=simulator.base_url, records=RECORDS), encoding="utf-8")
    monkeypatch.setenv("SIMULATOR_KEY", "none")
    shown = CliRunner().invoke(app, ["batches", "-c", str(file), *(["--cancel"] if cancel else [])])
    assert shown.exit_code == 0, shown.stderr
    assert f" {2 * RECORDS} " in shown.stdout  # an attribute list and a label each
    assert ("cancelling" in shown.stdout) == cancel
    finish(make, run)

    seen = simulator.statistics()
    assert seen.repeated == {}
    assert seen.bodies == past_of(run, simulator.dimension).requests
    assert len(rows_of(run)) == RECORDS
    assert findings_of(run) == []


RUN = """
root = "{root}"
dataset = "small"
records = {records}
shard_size = {records}
[[models]]
batch = true
[models.engine]
kind = "openai"
model = "simulator"
base_url = "{base_url}"
api_key_env = "SIMULATOR_KEY"
price = {{ prompt = 2, cached = 0.5, completion = 8 }}
"""
