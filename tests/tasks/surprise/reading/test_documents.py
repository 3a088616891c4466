from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.surprise.documents import Chat, Document, Interval, Label, Turn
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.input import Reject
from tests.tasks.surprise.reading.inputs import Item, items_of

NAMED: dict[str, Any] = {
    "id": "id",
    "group": "group",
    "labels": "labels",
    "labelled": "seen",
    "regions": "parts",
    "supervised": "own",
}


def item(folder: Path, row: Any, **columns: Any) -> Item:
    (folder / "a.jsonl").write_bytes(orjson.dumps(row))
    (found,) = items_of(folder / "a.jsonl", **columns)
    return found


@pytest.mark.parametrize(
    ("changed", "reason"),
    [
        ({"id": None}, "missing_id"),
        ({"id": 1.5}, "bad_id"),
        ({"id": True}, "bad_id"),
        ({"group": ["a"]}, "bad_group"),
        ({"kind": {"a": 1}}, "bad_stratum"),
        ({"seen": "yes"}, "bad_labelled"),
        ({"labels": {"start": 0, "end": 1}}, "bad_label"),
        ({"labels": [[0, 1]]}, "bad_label"),
        ({"labels": [{"start": 0}]}, "bad_label"),
        ({"labels": [{"start": 0, "end": True}]}, "bad_label"),
        ({"labels": [{"start": 1.0, "end": 2.0}]}, "bad_label"),
        ({"labels": [{"start": -1, "end": 2}]}, "bad_label"),
        ({"labels": [{"start": 2, "end": 2}]}, "bad_label"),
        ({"labels": [{"start": 3, "end": 2}]}, "bad_label"),
        ({"labels": [{"start": 0, "end": 5}]}, "bad_label"),
        ({"labels": [{"start": 0, "end": 1, "category": 3}]}, "bad_label"),
        ({"parts": [{"start": 0, "end": 5, "name": "x"}]}, "bad_region"),
        ({"own": [{"start": 0, "end": 5}]}, "bad_supervised"),
        ({"own": [{"start": 2}]}, "bad_supervised"),
    ],
)
def test_a_value_that_cannot_be_used_is_a_reject_with_its_place(
    tmp_path: Path, changed: dict[str, Any], reason: str
) -> None:
    found = item(tmp_path, {"id": "x", "text": "🔑key"} | changed, **NAMED, strata=("kind",))
    assert isinstance(found, Reject)
    assert (found.reason, found.place) == (reason, "a.jsonl, line 1")
    assert found.document_id == ("a.jsonl:1" if "id" in changed else "x")
    assert "key" not in found.detail  # the text is nobody's business


def test_offsets_are_code_points(tmp_path: Path) -> None:
    found = item(tmp_path, {"id": 3, "text": "🔑key", "labels": [{"start": 1, "end": 4}], "seen": True}, **NAMED)
    assert found == Document(id="3", text="🔑key", labels=(Label(1, 4, "private"),), labelled=True)


def test_what_is_not_supervised_is_context(tmp_path: Path) -> None:
    found = item(tmp_path, {"id": 3, "text": "Task: answer", "own": [{"start": 6, "end": 12}]}, **NAMED)
    assert isinstance(found, Document)
    assert found.supervised == (Interval(6, 12),)


@pytest.mark.parametrize(
    ("row", "columns", "labelled"),
    [
        ({}, {}, False),
        ({"labels": []}, {"labels": "labels"}, True),
        ({"labels": None}, {"labels": "labels"}, False),
        ({"labels": [], "seen": False}, {"labels": "labels", "labelled": "seen"}, False),
        ({"seen": True}, {"labelled": "seen"}, True),
        ({}, {"labels": "labels", "labelled": "seen"}, False),
    ],
)
def test_somebody_looked_where_the_row_says_so(
    tmp_path: Path, row: dict[str, Any], columns: dict[str, str], labelled: bool
) -> None:
    found = item(tmp_path, {"text": "a"} | row, **columns)
    assert isinstance(found, Document)
    assert found.labelled is labelled


def test_messages_become_a_chat_with_labels_in_each_content(tmp_path: Path) -> None:
    messages = [
        {"role": "system", "content": "Help."},
        {"role": "user", "content": "I am Ann", "labels": [{"start": 5, "end": 8, "category": "name"}]},
        {"role": "assistant", "content": ""},
    ]
    found = item(tmp_path, {"chat": messages, "who": 12}, messages="chat", group="who")
    turns = (Turn("system", "Help."), Turn("user", "I am Ann", (Label(5, 8, "name"),)), Turn("assistant", ""))
    assert found == Chat("a.jsonl:1", turns, group="12", labelled=True)


@pytest.mark.parametrize(
    ("messages", "reason"),
    [
        (None, "missing_text"),
        ("hello", "bad_messages"),
        (["hello"], "bad_messages"),
        ([{"role": "human", "content": "a"}], "bad_messages"),
        ([{"role": ["user"], "content": "a"}], "bad_messages"),
        ([{"role": "user"}], "bad_messages"),
        ([{"role": "user", "content": [{"type": "text"}]}], "bad_messages"),
        ([{"role": "user", "content": "a", "labels": [{"start": 0, "end": 2}]}], "bad_label"),
        ([], "empty_text"),
        ([{"role": "user", "content": ""}], "empty_text"),
    ],
)
def test_messages_that_are_no_chat_are_a_reject(tmp_path: Path, messages: Any, reason: str) -> None:
    found = item(tmp_path, {"chat": messages}, messages="chat")
    assert isinstance(found, Reject)
    assert found.reason == reason


def test_labels_of_a_chat_belong_into_its_messages() -> None:
    with pytest.raises(ValueError, match="put labels into its messages"):
        Columns(messages="chat", labels="labels")


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (None, "no 'text'"),
        (5, "text: a whole number, not a text"),
        (2.5, "text: a number that is not whole, or too large, not a text"),
        (True, "text: true or false, not a text"),
        (["a"], "text: a list, not a text"),
        ({"a": 1}, "text: an object, not a text"),
    ],
)
def test_a_reject_names_what_stood_there_as_its_maker_would(tmp_path: Path, value: Any, told: str) -> None:
    found = item(tmp_path, {"text": value})
    assert isinstance(found, Reject)
    assert found.detail == told


@pytest.mark.parametrize("nobody", [None, "", float("nan")])
def test_no_identity_is_no_group_however_a_table_writes_it(tmp_path: Path, nobody: object) -> None:
    file = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"text": ["a"], "user": pa.array([nobody], pa.string() if nobody == "" else pa.float64())}), file
    )
    (found,) = items_of(file, group="user", strata=("user",))
    assert isinstance(found, Document)
    assert (found.group, found.strata) == (None, {})


def test_a_label_without_a_category_is_private(tmp_path: Path) -> None:
    spans = [{"start": 0, "end": 1}, {"start": 1, "end": 2, "category": " "}, {"start": 2, "end": 3, "category": "b "}]
    found = item(tmp_path, {"text": "abc", "labels": spans}, labels="labels")
    assert isinstance(found, Document)
    assert [label.category for label in found.labels] == ["private", "private", "b"]
