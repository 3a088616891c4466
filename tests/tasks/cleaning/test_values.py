from pathlib import Path

import pytest

from tasks.cleaning.values import Value, ValuesUnusable, named_values


def test_values_come_from_assignments_and_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "values.json"
    file.write_text('[{"key": "town", "value": "Oslo"}]')
    assert named_values(["name= Ann = Berg "], file) == (
        Value(key="name", value="Ann = Berg"),
        Value(key="town", value="Oslo"),
    )


@pytest.mark.parametrize("assignment", ["Ann Berg", "=Ann Berg", "name= "])
def test_a_value_that_is_no_assignment_is_told_by_its_number_alone(assignment: str) -> None:
    with pytest.raises(ValuesUnusable, match="value 1") as error:
        named_values([assignment], None)
    assert "Ann" not in str(error.value)


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "[" * 100_000,
        "9" * 5000,
        '{"name": "Ann Berg"}',
        '[{"key": "name", "value": " "}]',
        '[{"name": "Ann Berg"}]',
    ],
)
def test_a_file_that_is_no_list_of_values_is_told_without_its_contents(tmp_path: Path, text: str) -> None:
    file = tmp_path / "values.json"
    file.write_text(text)
    with pytest.raises(ValuesUnusable) as error:
        named_values([], file)
    assert "Ann" not in str(error.value)
