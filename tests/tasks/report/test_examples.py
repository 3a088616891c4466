from tasks.report.examples import pick
from tests.tasks.report.tables import record, records

ROWS = records(*(record(f"r{i}", domain="common" if i < 8 else f"rare {i}") for i in range(10)))


def test_every_kind_is_shown_before_a_second_of_any() -> None:
    assert sorted(row["domain"] for row in pick(ROWS, 4, by="domain")) == ["common", "common", "rare 8", "rare 9"]


def test_no_more_rows_are_picked_than_there_are() -> None:
    assert sorted(row["record_id"] for row in pick(ROWS, 99, by="domain")) == [f"r{i}" for i in range(10)]
    assert pick(records(), 3, by="domain") == []


def test_the_seed_decides() -> None:
    chosen = [tuple(row["record_id"] for row in pick(ROWS, 3, by="model", seed=seed)) for seed in (0, 0, 1)]
    assert chosen[0] == chosen[1] != chosen[2]
