from pathlib import Path

import pytest

from tasks.corpora.rows import CorpusNotReadable, Reject, Row, find, read_rows
from tests.tasks.corpora.files import write_gzip, write_lines


class Thing(Row):
    name: str
    size: int


GOOD = {"name": "a", "size": 1, "else": "not read"}


def test_rows_out_of_format_are_set_aside_with_place_and_reason_but_not_their_text(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "things.jsonl", [GOOD, {"name": "s3cret", "size": "s3cret"}, {"size": 2}, ["s3cret"]])
    read = read_rows(path, Thing)
    assert [placed.row for placed in read.rows] == [Thing(name="a", size=1)]
    assert [reject.place for reject in read.rejects] == [f"things.jsonl: line {line}" for line in (2, 3, 4)]
    assert read.rejects[0].reason == "size: Input should be a valid integer"
    assert read.rejects[1] == Reject("things.jsonl: line 3", "name: Field required")
    assert not any("s3cret" in reject.reason for reject in read.rejects)


def test_a_string_may_hold_what_other_readers_take_for_a_line_end(tmp_path: Path) -> None:
    path = tmp_path / "things.jsonl"
    path.write_text('{"name": "a\u2028b\x85c", "size": 1}\r\n\n{"name": "d", "size": 2}', encoding="utf-8")
    read = read_rows(path, Thing)
    assert [(placed.number, placed.place, placed.row.name) for placed in read.rows] == [
        (0, "things.jsonl: line 1", "a\u2028b\x85c"),
        (1, "things.jsonl: line 3", "d"),
    ]


def test_gzip_and_arrays_are_read_too(tmp_path: Path) -> None:
    assert len(read_rows(write_gzip(tmp_path / "things.jsonl.gz", [GOOD, GOOD]), Thing).rows) == 2
    (tmp_path / "things.json").write_text('[{"name": "a", "size": 1}, {"name": "b"}]')
    read = read_rows(tmp_path / "things.json", Thing)
    assert (len(read.rows), read.rejects[0].place) == (1, "things.json: row 1")


@pytest.mark.parametrize(
    ("name", "content", "told"),
    [
        ("things.jsonl", b'{"other": 1}\n', "none of 1 rows is in the published format; things.jsonl: line 1: name"),
        ("things.jsonl", b"", "none of 0 rows"),
        ("things.jsonl", b"\xff\xfe", "damaged"),
        ("things.jsonl.gz", b"\x1f\x8b\x08\x00", "damaged"),
        ("things.json", b'{"name": "a"}', "an array of rows is expected, this is a dict"),
        ("things.json", b"[{", "damaged"),
    ],
)
def test_another_file_is_named_as_such(tmp_path: Path, name: str, content: bytes, told: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(CorpusNotReadable, match=told.replace(".", r"\.")):
        read_rows(tmp_path / name, Thing)


def test_a_file_is_found_in_the_folder_or_one_below(tmp_path: Path) -> None:
    (tmp_path / "set").mkdir()
    below = write_lines(tmp_path / "set" / "b.jsonl", [])
    assert find(tmp_path, "a.jsonl", "b.jsonl") == below
    here = write_lines(tmp_path / "b.jsonl", [])
    assert find(tmp_path, "b.jsonl") == here


def test_what_is_not_there_or_there_twice_is_told(tmp_path: Path) -> None:
    with pytest.raises(CorpusNotReadable, match="no such folder"):
        find(tmp_path / "nowhere", "a.jsonl")
    with pytest.raises(CorpusNotReadable, match=r"no a\.jsonl or b\.jsonl in it"):
        find(tmp_path, "a.jsonl", "b.jsonl")
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write_lines(tmp_path / folder / "a.jsonl", [])
    with pytest.raises(CorpusNotReadable, match="in 2 folders"):
        find(tmp_path, "a.jsonl")
