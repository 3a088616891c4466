"""What a chain ends in, as rows of the two tables of a shard."""

import dataclasses

import numpy as np
import pyarrow.parquet as pq
import pytest

from infra.llm.types import Usage
from tasks.ask import StepSpent
from tasks.records import EVENT, PROFILE, RECORDS, REFINEMENT, REJECTS
from tasks.synthesis.attributes import Attribute, Group
from tasks.synthesis.outcome import Identity, Record, Reject, Spent, tables
from tasks.synthesis.profile import Event, Profile
from tasks.synthesis.refine import Refinement
from tests.tasks.synthesis.person import ANA, KNEE, PLAN

SPENT = Spent({"profile": StepSpent(2, Usage(10, 4, 3, 1)), "draft": StepSpent(1, Usage(5, 0, 7, 2))}, 0.25)


def record(index: int, label: tuple[str, str] | None = ("Health & Wellness", "Patient Care")) -> Record:
    return Record(
        identity=Identity(f"r-{index}", index, 7, "model-a", "English"),
        profile=ANA,
        event=KNEE,
        plan=PLAN,
        text="Dear Ana",
        words=2,
        label=label,
        attributes=(
            Attribute("full_name", "Ana Lima", "profile", ((5, 8), (20, 28))),
            Attribute("city", "Porto", "text", ()),
        ),
        groups=(Group("Who it is", ("full_name", "city")),),
        refinement=(Refinement(1, "no_candidate"), Refinement(2, "candidate", True, 4, 1.5, 1.75, 0.625, True)),
        embedding=np.array([0.6, 0.8], np.float32),
        spent=SPENT,
        prompt_shas={"draft": "00ff", "profile": "ff00"},
    )


def reject(index: int) -> Reject:
    identity = Identity(f"r-{index}", index, 7, "model-a", "English")
    return Reject(identity, "quarantined", "formats", "invalid_reply", "no JSON found", None, SPENT)


def test_rows_stand_in_the_order_of_the_population_each_in_its_table() -> None:
    found = tables([reject(3), record(2), record(0), reject(1)])
    assert found["records"]["index"].to_pylist() == [0, 2]
    assert found["rejects"]["index"].to_pylist() == [1, 3]
    assert (found["records"].schema, found["rejects"].schema) == (RECORDS, REJECTS)


def test_a_table_without_rows_keeps_its_schema() -> None:
    found = tables([reject(0)])
    assert found["records"].num_rows == 0
    assert found["records"].schema == RECORDS


def test_a_record_is_stored_whole() -> None:
    (row,) = tables([record(0)])["records"].to_pylist()
    assert row["profile"] == dataclasses.asdict(ANA)
    assert row["event"]["date"] == KNEE.date
    assert row["event"]["attributes"][1] == {"key": "surgeon_name", "value": "Dr. Rita Lima"}
    assert (row["record_type"], row["context"], row["format"]) == (PLAN.record_type, PLAN.context, PLAN.format)
    assert row["attributes"] == [
        {
            "key": "full_name",
            "value": "Ana Lima",
            "source": "profile",
            "grounded": True,
            "spans": [{"start": 5, "end": 8}, {"start": 20, "end": 28}],
        },
        {"key": "city", "value": "Porto", "source": "text", "grounded": False, "spans": []},
    ]
    assert row["groups"] == [{"name": "Who it is", "keys": ["full_name", "city"]}]
    assert row["refinement"][0]["verdict"] == "no_candidate"
    assert row["refinement"][0]["score"] is None
    assert row["refinement"][1] == dataclasses.asdict(record(0).refinement[1])
    assert row["embedding"] == pytest.approx([0.6, 0.8])
    assert row["prompt_shas"] == [{"prompt": "draft", "sha": "00ff"}, {"prompt": "profile", "sha": "ff00"}]
    assert (row["domain"], row["subcategory"]) == ("Health & Wellness", "Patient Care")


def test_a_record_without_a_label_has_none() -> None:
    (row,) = tables([record(0, label=None)])["records"].to_pylist()
    assert (row["domain"], row["subcategory"]) == (None, None)


@pytest.mark.parametrize("outcome", [record(0), reject(0)])
def test_what_a_chain_spent_is_summed_over_its_steps(outcome: Record | Reject) -> None:
    row = outcome.row()
    assert (row["calls"], row["cost_usd"]) == (3, 0.25)
    assert row["tokens"] == {"prompt": 15, "cached": 4, "completion": 10, "reasoning": 3}


def test_rows_survive_parquet(tmp_path: object) -> None:
    for name, table in tables([record(0), reject(1)]).items():
        path = f"{tmp_path}/{name}.parquet"
        pq.write_table(table, path)
        assert pq.read_table(path).to_pylist() == table.to_pylist()


@pytest.mark.parametrize(("kind", "struct"), [(Profile, PROFILE), (Event, EVENT), (Refinement, REFINEMENT)])
def test_the_columns_of_a_struct_are_the_fields_of_its_class(kind: type, struct: object) -> None:
    assert [field.name for field in dataclasses.fields(kind)] == [field.name for field in struct]  # type: ignore[attr-defined]


def test_no_column_is_a_map_which_the_datasets_library_cannot_read() -> None:
    for schema in (RECORDS, REJECTS):
        assert not [field.name for field in schema if "map<" in str(field.type)]
