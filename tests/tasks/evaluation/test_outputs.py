"""Outputs made elsewhere are joined by id; what does not fit is told with the ids."""

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.evaluation.outputs import OutputsUnusable, check_outputs, read_outputs

ROWS = [{"record_id": "a", "sanitized": "one"}, {"record_id": "b", "sanitized": None}]


def written(folder: Path, *rows: object) -> Path:
    path = folder / "outputs.jsonl"
    path.write_text("".join(f"{row if isinstance(row, str) else json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def test_both_formats_give_the_same(tmp_path: Path) -> None:
    pq.write_table(pa.Table.from_pylist([*ROWS]).append_column("more", [[1, 2]]), tmp_path / "outputs.parquet")
    expected = {"a": "one", "b": None}
    assert read_outputs(tmp_path / "outputs.parquet") == expected
    assert read_outputs(written(tmp_path, ROWS[1] | {"more": 1}, "", ROWS[0])) == expected


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([*ROWS, ROWS[0]], "a more than once"),
        ([*ROWS, "{"], "line 3: not JSON"),
        ([*ROWS, "[" * 100_000], "line 3: not JSON"),
        (['{"record_id": ' + "9" * 5000 + "}"], "line 1: not JSON"),
        ([{"record_id": "a", "sanitized": "\ud800"}], "line 1, 'a': half a surrogate pair"),
        ([{"record_id": "a"}], "line 1: needs 'record_id' and 'sanitized'"),
        (["[]"], "line 1: needs"),
        ([{"record_id": 7, "sanitized": ""}], "line 1: record_id is 7"),
        ([{"record_id": "a", "sanitized": 7}], "line 1, a: sanitized is a int"),
    ],
)
def test_what_cannot_be_used_is_told_with_its_place(tmp_path: Path, rows: list[object], said: str) -> None:
    with pytest.raises(OutputsUnusable, match=said):
        read_outputs(written(tmp_path, *rows))


def test_parquet_that_is_none_or_lacks_a_column_is_told(tmp_path: Path) -> None:
    path = tmp_path / "outputs.parquet"
    path.write_bytes(b"no")
    with pytest.raises(OutputsUnusable, match="cannot be read as Parquet"):
        read_outputs(path)
    pq.write_table(pa.table({"record_id": ["a"]}), path)
    with pytest.raises(OutputsUnusable, match="no column sanitized"):
        read_outputs(path)


def test_ids_that_are_missing_or_of_other_records_are_named() -> None:
    path = Path("outputs.jsonl")
    check_outputs({"a": "", "b": None, "c": "of a record that is not judged"}, path, wanted={"a", "b"}, known={*"abc"})
    with pytest.raises(OutputsUnusable, match=r"nothing for b: add a row"):
        check_outputs({"a": ""}, path, wanted=["a", "b"], known={"a", "b"})
    with pytest.raises(OutputsUnusable, match=r"z not in this data set"):
        check_outputs({"a": "", "z": ""}, path, wanted=["a"], known={"a"})
    many = [f"r{number}" for number in range(9)]
    with pytest.raises(OutputsUnusable, match=r"r0, r1, r2, r3, r4 and 4 more"):
        check_outputs({}, path, wanted=many, known=many)
