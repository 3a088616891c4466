"""What a run's page says of shards and samples, and what becomes of a run whose page is not taken."""

import logging
import re
import shutil
from pathlib import Path

import httpx
import pytest

from flows.artifacts.markdown import escaped
from flows.artifacts.outlook import outlook_markdown
from flows.artifacts.run import artifact_only
from flows.artifacts.sample import HIDDEN, record_block
from flows.artifacts.shards import LONGEST, NEXT, shard_row, standings
from flows.backfill import Selection
from flows.config import RunConfig, load_run
from flows.deployed.backfilling import chosen_of
from flows.deployed.retrying import planned_figures
from flows.retry import RetryPlan
from flows.synthesize import plan_run
from infra.shards.failures import FailureNotes
from infra.shards.plan import Plan
from infra.shards.ranges import ShardRange
from tasks.synthesis.steps import records_store
from tests.flows.conftest import MadeSet
from tests.flows.test_deployments import RECORD

FIRST, SECOND, THIRD, FOURTH = (ShardRange(start, start + 6) for start in (0, 6, 12, 18))


@pytest.fixture
def run(made_set: MadeSet, tmp_path: Path) -> RunConfig:
    """Two finished shards of records of four that are wanted."""
    shutil.copytree(made_set.folder, tmp_path / "tiny")
    return load_run(made_set.run_file, {"root": str(tmp_path), "records": 24})


def test_shards_that_failed_come_first_with_their_reason_and_what_to_do(run: RunConfig) -> None:
    store = records_store(run.root, run.dataset)
    notes = FailureNotes(store.layout)
    notes.put(FOURTH, ConnectionError("no answer from | the model " + 1000 * "x"))
    notes.put(FIRST, ConnectionError("of long ago: it was made since"))
    found = standings(store, plan_run(run, "missing"))
    assert [(each.shard, each.state) for each in found] == [
        (FOURTH, "failed"),
        (THIRD, "missing"),
        (FIRST, "committed"),
        (SECOND, "committed"),
    ]
    row = shard_row(store, found[0])
    assert row["why"].startswith("ConnectionError: no answer from | the model")
    assert len(row["why"]) <= LONGEST
    assert row["next"] == NEXT["failed"]
    assert (shard_row(store, found[2])["why"], shard_row(store, found[2])["next"]) == ("", "")


def test_a_dry_backfill_says_on_the_page_which_shards_and_what_they_may_cost(run: RunConfig) -> None:
    store = records_store(run.root, run.dataset)
    chosen = chosen_of(run, Selection(stages=("records", "triplets"), most=3), None)
    text = outlook_markdown(run, chosen, dry=True)
    assert text.startswith("Nothing was done: this was a dry run.")
    assert re.search(r"^\| records \| 2 \| 0 \| 0 \| [\d,]+ calls", text, re.MULTILINE)
    assert re.search(r"^\| triplets \| 1 \| 1 \| 0 \| [\d,]+ calls", text, re.MULTILINE)
    assert escaped(THIRD.name) in text
    assert list(store.manifest.records()) == [FIRST, SECOND]


def test_a_dry_retry_counts_rows_shards_and_what_has_to_be_made_again_before() -> None:
    planned = RetryPlan(Plan((), (FIRST, SECOND)), {FIRST.name: 3, SECOND.name: 2}, (THIRD.name,))
    assert list(planned_figures(planned).values()) == ["5", "2", "1"]


def test_a_name_that_a_model_gave_after_a_value_is_left_out_of_a_masked_sample() -> None:
    told = RECORD | {
        "record_type": "letter to Karim",
        "groups": [{"name": "Amina's people", "keys": ["name"]}, {"name": "where they live", "keys": ["city"]}],
    }
    block = record_block(told, full=False)
    assert "Karim" not in block
    assert "Amina" not in block
    assert block.count(HIDDEN.strip("()")) == 2
    assert "where they live" in block
    assert "letter to Karim" in record_block(told, full=True)


def test_a_page_that_is_not_taken_fails_no_run_and_a_mistake_of_ours_does(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING), artifact_only("cost"):
        raise httpx.ConnectError("refused")
    assert "the run's page lacks its cost" in caplog.text
    with pytest.raises(KeyError), artifact_only("cost"):
        raise KeyError("reasons")
