"""Five hundred records are sanitized while one call in twenty goes wrong, in every way that a JSON answer can."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from infra.engines.simulator.config import CONTENT_FAULTS, JSON_FAULTS, TRANSPORT_FAULTS, SimulatorConfig
from infra.engines.simulator.counters import Statistics
from infra.engines.simulator.process import start
from infra.engines.simulator.spoil import REFUSALS
from tasks.sanitization.occurrences import leaks
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tests.faults.small_runs import make, rows_of, run_on
from tests.faults.small_triplets import faults_of, outcomes_of, sanitize

pytestmark = pytest.mark.faults

RECORDS = 500  # half a minute
FAULTS = {*TRANSPORT_FAULTS, *CONTENT_FAULTS, *JSON_FAULTS}
REASONS = {  # of what a reply was, and of what became of its request
    *("invalid_reply", "cut_off", "empty_reply", "refusal", "leaked_markup", "unusable_reply", "request_rejected"),
}


@dataclass(frozen=True)
class Storm:
    records: dict[str, dict[str, Any]]
    outcomes: dict[str, dict[str, Any]]
    seen: Statistics
    findings: list[Any]

    @property
    def triplets(self) -> list[dict[str, Any]]:
        return [row for row in self.outcomes.values() if "sanitized" in row]

    @property
    def rejects(self) -> list[dict[str, Any]]:
        return [row for row in self.outcomes.values() if "sanitized" not in row]


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storm]:
    root = tmp_path_factory.mktemp("storm")
    short = SynthesisConfig(words=100, refinement=RefinementConfig(steps=0))
    sizes: dict[str, Any] = {"records": RECORDS, "shard_size": 125, "in_flight": 32, "synthesis": short}
    with start(SimulatorConfig(seed=5)) as calm:
        make(run_on(calm, root, **sizes))
    with start(SimulatorConfig(seed=5, fault_rate=0.05)) as stormy:
        run = run_on(stormy, root, timeout_s=3, **sizes)  # what hangs is given up soon
        sanitize(run)
        records = {name: row for name, row in rows_of(run).items() if "text" in row}
        yield Storm(records, outcomes_of(run), stormy.statistics(), faults_of(run))


def test_every_kind_of_fault_came(storm: Storm) -> None:
    assert set(storm.seen.answers) >= FAULTS
    faults = sum(storm.seen.answers[fault] for fault in FAULTS)
    assert 0.04 < faults / storm.seen.requests < 0.06


def test_every_record_ends_as_a_triplet_or_a_reject_and_nearly_all_as_triplets(storm: Storm) -> None:
    assert storm.outcomes.keys() == storm.records.keys()
    assert len(storm.triplets) >= 0.95 * len(storm.outcomes)
    assert storm.findings == []


def test_a_reject_says_at_which_step_and_why(storm: Storm) -> None:
    for row in storm.rejects:
        assert (row["outcome"], row["reason"] in REASONS) == ("quarantined", True), row
        assert row["detail"], row
        assert row["step"].partition("-")[0] in ("weights", "relevant", "spans", "abstraction", "apply", "request"), row
        if row["reason"] in ("invalid_reply", "cut_off", "refusal"):
            assert row["last_reply"], row


def test_a_triplet_hides_its_targets_and_keeps_the_rest(storm: Storm) -> None:
    for row in storm.triplets:
        hidden = [(each["key"], each["value"]) for target in row["targets"] for each in target["attributes"]]
        assert row["verified"] == (not leaks(row["sanitized"], hidden)), row["record_id"]
        assert row["text"] == storm.records[row["record_id"]]["text"]
        assert row["text"] != row["sanitized"]
        assert not leaks(row["instruction"], hidden)
        assert all(kept["value"].casefold() in row["sanitized"].casefold() for kept in row["retained"])
        edited = {edit["chunk"] for target in row["targets"] for each in target["passes"] for edit in each["edits"]}
        for number, chunk in enumerate(row["chunks"]):
            before = row["text"][chunk["start"] : chunk["stop"]]
            assert chunk["sanitized"].strip() or not before.strip()
            assert number in edited or chunk["sanitized"] == before
    assert sum(row["verified"] for row in storm.triplets) >= 0.98 * len(storm.triplets)


def test_no_slip_of_a_model_is_in_a_text(storm: Storm) -> None:
    for row in storm.triplets:
        for text in (row["sanitized"], row["instruction"]):
            assert not any(refusal in text for refusal in REFUSALS), text
            assert not re.search(r"</?think>|```|</?text [0-9a-f]{8}>|The user wants a complete answer", text), text


def test_what_went_wrong_is_paid_for_in_the_rows(storm: Storm) -> None:
    paid = sum(row["tokens"]["completion"] for row in storm.outcomes.values())
    assert 0.99 * storm.seen.completion_tokens <= paid <= storm.seen.completion_tokens  # a late answer is lost to us
