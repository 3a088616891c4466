import gzip
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.lines import Lines
from tasks.surprise.reading.raw import InputUnfit
from tests.tasks.surprise.reading.inputs import items_of, reasons


def test_each_line_is_a_row_whatever_stands_in_it(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(
        b'\xef\xbb\xbf{"text": "one"}\r\n'
        b"\n"
        b'{"text": "tw\n'
        b'{"text": "\xff"}\n'
        b'["text"]\n'
        b'{"text": NaN}\n'
        b'{"text": "\\ud800"}\n'
        b'{"other": 1}\n'
        b'{"text": ""}\n'
        b'{"text": 7}\n'
        b'{"text": "l\xc3\xa4st"}'
    )
    items = items_of(file)
    assert reasons(items) == {
        "a.jsonl:1": "one",
        "a.jsonl:2": "blank_line",
        "a.jsonl:3": "invalid_json",
        "a.jsonl:4": "invalid_utf8",
        "a.jsonl:5": "not_an_object",
        "a.jsonl:6": "invalid_json",
        "a.jsonl:7": "invalid_json",
        "a.jsonl:8": "missing_text",
        "a.jsonl:9": "empty_text",
        "a.jsonl:10": "bad_text",
        "a.jsonl:11": "läst",
    }
    assert items[3].place == "a.jsonl, line 4"  # type: ignore[union-attr]
    assert "byte 10" in items[3].detail  # type: ignore[union-attr]


@given(st.lists(st.sampled_from([b"", b"x", b"yy\r", b"z" * 40]), max_size=400), st.booleans(), st.data())
@settings(max_examples=40, deadline=None)
def test_any_range_of_lines_is_what_splitting_the_file_gives(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], ends: bool, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("lines")
    content = b"\n".join(lines) + (b"\n" if lines and ends else b"")
    expected = [line.rstrip(b"\r") for line in content.split(b"\n")]
    if expected[-1] == b"":
        expected.pop()
    plain, packed = folder / "a.jsonl", folder / "a.jsonl.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    for path in (plain, packed):
        found = Lines.of(path, "a", Columns())
        assert found.rows == len(expected)
        for _ in range(3 if expected else 0):
            start = data.draw(st.integers(0, len(expected) - 1))
            stop = data.draw(st.integers(start, len(expected)))
            assert [row.content for row in found.slice(start, stop).read()] == expected[start:stop]


def test_lines_are_counted_across_the_pieces_in_which_a_file_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tasks.surprise.reading.lines._CHUNK_BYTES", 7)
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"".join(b"%d\n" % number for number in range(1000)))
    found = Lines.of(file, "a", Columns())
    assert found.rows == 1000
    assert [row.content for row in found.slice(998, 1000).read()] == [b"998", b"999"]
    assert [row.content for row in found.slice(63, 66).read()] == [b"63", b"64", b"65"]


def test_a_torn_gzip_file_is_named(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl.gz"
    file.write_bytes(gzip.compress(b'{"text": "one"}\n' * 1000)[:-20])
    with pytest.raises(InputUnfit, match=r"a\.jsonl\.gz: cannot be read .*is it whole"):
        items_of(file)


def test_a_file_cut_short_during_a_run_is_no_silent_end(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    file.write_bytes(b"{}\n" * 10)
    found = Lines.of(file, "a", Columns()).slice(0, 10)
    file.write_bytes(b"{}\n" * 9)
    with pytest.raises(InputUnfit, match="ends before line 10"):
        found.read()
