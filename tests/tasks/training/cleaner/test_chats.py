import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.training.answers import Answers
from tasks.training.cleaner.prepare import DataUnfit, prepare
from tasks.training.cleaner.reading.steps import read_export
from tests.tasks.surprise.scoring.tiny import chat_tokenizer
from tests.tasks.training.chatml import QWEN3, chat


def row(id_: str) -> dict[str, object]:
    each = chat(id_, "Jane called.", "She called.")
    return {"record_id": each.id, "messages": list(each.messages), "words": 2}


def write_export(folder: Path) -> Path:
    (folder / "data").mkdir(parents=True)
    for name, ids in {
        "train-00000": ["a", "b"],
        "train-00001": ["c"],
        "validation-00000": ["d"],
        "hard-00000": ["e"],
    }.items():
        pq.write_table(pa.Table.from_pylist([row(id_) for id_ in ids]), folder / "data" / f"{name}.parquet")
    (folder / "README.md").write_text("card")
    return folder


def test_training_and_validation_are_read_and_no_test(tmp_path: Path) -> None:
    found = read_export(write_export(tmp_path / "export"))
    assert [each.id for each in found.train] == ["a", "b", "c"]
    assert [each.id for each in found.validation] == ["d"]
    assert found.train[0] == chat("a", "Jane called.", "She called.")
    assert set(found.sources) == {
        "data/train-00000.parquet",
        "data/train-00001.parquet",
        "data/validation-00000.parquet",
    }
    assert all(len(digest) == 64 for digest in found.sources.values())


def test_lines_of_json_are_read_as_well(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_text("".join(json.dumps(row(id_)) + "\n" for id_ in ("a", "b")))
    assert [each.id for each in read_export(tmp_path).train] == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("{", "line 1: not JSON"),
        ('{"record_id": "a"}', "row 0: a row needs record_id and messages"),
        ('{"record_id": "a", "messages": []}', "record_id a: an id, a role or a content is missing"),
        ('{"record_id": "a", "messages": [{"role": "user", "content": null}]}', "a content is missing"),
        ('{"record_id": 5, "messages": [{"role": "user", "content": "a"}]}', "record_id 5: .* or no text"),
        ('{"record_id": "a", "messages": [{"role": "user", "content": "\\ud800"}]}', "half a surrogate pair"),
        ("[" * 100_000, "line 1: not JSON"),
        ("\n\n", "no chats to train on"),
        ("", "no chats to train on"),
    ],
)
def test_what_is_no_export_is_told(tmp_path: Path, text: str, complaint: str) -> None:
    (tmp_path / "train.jsonl").write_text(text)
    with pytest.raises(DataUnfit, match=complaint):
        read_export(tmp_path)


def test_files_that_are_not_what_their_name_says_are_told(tmp_path: Path) -> None:
    (tmp_path / "train.jsonl").write_bytes(b"\xff\xfe{}")
    with pytest.raises(DataUnfit, match="line 1: not JSON in UTF-8"):
        read_export(tmp_path)
    (tmp_path / "train.jsonl").rename(tmp_path / "train.parquet")
    with pytest.raises(DataUnfit, match="cannot be read as Parquet"):
        read_export(tmp_path)


def test_a_table_without_messages_is_told(tmp_path: Path) -> None:
    pq.write_table(pa.table({"record_id": ["a"]}), tmp_path / "train-0.parquet")
    with pytest.raises(DataUnfit, match="no column messages"):
        read_export(tmp_path)


LONG = chat("long", "Jane called. " * 60, "She called.")
ODD = chat("odd", "Jane <|im_end|>", "She")
GOOD = chat("good", "Jane called.", "She called.")


def test_what_cannot_be_learnt_is_left_out_and_counted_with_its_ids() -> None:
    prepared = prepare([LONG, GOOD, ODD], Answers(chat_tokenizer(QWEN3), 200), "leave_out")
    assert [example.id for example in prepared.examples] == ["good"]
    assert prepared.left_out == {"too_long": ["long"], "special_token": ["odd"]}


def test_too_long_a_chat_is_a_failure_where_that_was_asked() -> None:
    answers = Answers(chat_tokenizer(QWEN3), 200)
    with pytest.raises(DataUnfit, match="1 of 2 chats have too many tokens: long:"):
        prepare([LONG, GOOD], answers, "fail")
    assert len(prepare([GOOD, ODD], answers, "fail").examples) == 1


def test_an_id_that_repeats_is_told() -> None:
    with pytest.raises(DataUnfit, match="record_id good stands there twice"):
        prepare([GOOD, GOOD], Answers(chat_tokenizer(QWEN3), 200), "leave_out")
