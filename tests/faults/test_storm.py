"""A thousand records while one call in twenty goes wrong, in every way that servers and models are known for."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from infra.engines.simulator.config import FAULTS, SimulatorConfig
from infra.engines.simulator.counters import Statistics
from infra.engines.simulator.process import start
from infra.engines.simulator.spoil import REFUSALS
from tasks.synthesis.config import RefinementConfig, SynthesisConfig
from tasks.synthesis.seeds import record_id
from tests.faults.small_runs import findings_of, make, rows_of, run_on

pytestmark = pytest.mark.faults

RECORDS = 1000
REASONS = {  # of what a reply was, and of what became of its request
    *("invalid_reply", "cut_off", "empty_reply", "refusal", "leaked_markup", "unusable_reply", "request_rejected"),
    *("wrong_language", "too_short"),  # filters that a spoilt reply can come to
}


@dataclass(frozen=True)
class Storm:
    rows: dict[str, dict[str, Any]]
    seen: Statistics
    findings: list[Any]

    @property
    def records(self) -> list[dict[str, Any]]:
        return [row for row in self.rows.values() if "text" in row]

    @property
    def rejects(self) -> list[dict[str, Any]]:
        return [row for row in self.rows.values() if "text" not in row]


@pytest.fixture(scope="module")
def storm(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storm]:
    with start(SimulatorConfig(seed=5, fault_rate=0.05)) as simulator:
        run = run_on(
            simulator,
            tmp_path_factory.mktemp("storm"),
            timeout_s=3,  # what hangs is given up soon
            records=RECORDS,
            shard_size=250,
            in_flight=32,
            synthesis=SynthesisConfig(words=80, refinement=RefinementConfig(steps=1)),
        )
        make(run)
        yield Storm(rows_of(run), simulator.statistics(), findings_of(run))


def test_every_kind_of_fault_came(storm: Storm) -> None:
    assert set(FAULTS) <= set(storm.seen.answers)
    faults = sum(storm.seen.answers[fault] for fault in FAULTS)
    assert 0.04 < faults / storm.seen.requests < 0.06


def test_every_id_is_a_record_or_a_reject_and_nearly_all_are_records(storm: Storm) -> None:
    assert set(storm.rows) == {record_id(7, index) for index in range(RECORDS)}
    assert len(storm.records) + len(storm.rejects) == RECORDS
    assert len(storm.records) >= 0.98 * RECORDS
    assert storm.findings == []


def test_a_reject_says_at_which_step_and_why(storm: Storm) -> None:
    for row in storm.rejects:
        assert row["reason"] in REASONS, row
        assert row["detail"], row
        assert row["step"], row
        assert row["calls"] > 0, row
        if row["reason"] in ("invalid_reply", "cut_off", "refusal", "wrong_language"):
            assert row["last_reply"], row


def test_no_slip_of_a_model_is_in_a_text(storm: Storm) -> None:
    for row in storm.records:
        text = row["text"]
        assert len(text.split()) >= 64, text
        assert not any(refusal in text for refusal in REFUSALS), text
        assert not re.search(r"</?think>|```|</?text [0-9a-f]{8}>|The user wants a complete answer", text), text
        assert len(re.findall(r"\b(?:the|and|of|to|in|is)\b", text)) >= 5, text  # English, as asked


def test_no_value_of_a_row_is_empty_or_out_of_place(storm: Storm) -> None:
    for row in storm.records:
        assert all(str(value).strip() for value in row["profile"].values()), row["profile"]
        assert 3 <= len(row["event"]["attributes"]) <= 8
        assert all(fact["value"].strip() for fact in row["event"]["attributes"])
        assert row["record_type"].strip()
        assert row["context"].strip()
        assert row["format"].strip()
        keys = [attribute["key"] for attribute in row["attributes"]]
        assert len(set(keys)) == len(keys) > 0
        assert all(set(group["keys"]) <= set(keys) for group in row["groups"])
        for attribute in row["attributes"]:
            assert attribute["grounded"] == bool(attribute["spans"])
            for span in attribute["spans"]:
                found = row["text"][span["start"] : span["end"]]
                assert found.casefold().split() == attribute["value"].casefold().split()


def test_what_went_wrong_is_paid_for_in_the_rows(storm: Storm) -> None:
    paid = sum(row["tokens"]["completion"] for row in storm.rows.values())
    assert 0.995 * storm.seen.completion_tokens <= paid <= storm.seen.completion_tokens  # a late answer is lost to us
