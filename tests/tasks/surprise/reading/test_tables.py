from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tasks.surprise.documents import Chat, Document, Label, Region, Turn
from tasks.surprise.reading.columns import RECORDS, Columns
from tasks.surprise.reading.input import Input, read
from tasks.surprise.reading.raw import InputUnfit
from tasks.surprise.reading.tables import Table
from tests.tasks.surprise.reading.inputs import items_of, reasons

SPAN = pa.struct([("start", pa.int64()), ("end", pa.int64()), ("category", pa.string())])


def write(path: Path, columns: dict[str, pa.Array], rows_a_group: int = 2) -> Path:
    pq.write_table(pa.table(columns), path, row_group_size=rows_a_group)
    return path


def broken_text(*texts: bytes | None) -> pa.Array:
    """Text that is not UTF-8, which Arrow takes on trust."""
    return pa.array(texts, pa.binary()).view(pa.string())


def test_a_row_becomes_a_document_with_all_that_is_named(tmp_path: Path) -> None:
    file = write(
        tmp_path / "a.parquet",
        {
            "body": pa.array(["Zoë calls", "none", "unseen"]),
            "key": pa.array([7, 8, 9]),
            "who": pa.array(["ann", None, "ben"]),
            "spans": pa.array([[{"start": 0, "end": 3, "category": "name"}], [], None], pa.list_(SPAN)),
            "fields": pa.array([[{"start": 4, "end": 9, "name": "verb"}], None, []]),
            "lang": pa.array(["en", "de", None]).dictionary_encode(),
            "year": pa.array([2001, 2002, 2003]),
        },
    )
    named = {"text": "body", "id": "key", "group": "who", "labels": "spans", "regions": "fields"}
    assert items_of(file, **named, strata=("lang", "year")) == [
        Document(
            id="7",
            text="Zoë calls",
            group="ann",
            labels=(Label(0, 3, "name"),),
            labelled=True,
            regions=(Region(4, 9, "verb"),),
            strata={"lang": "en", "year": "2001"},
        ),
        Document(id="8", text="none", labelled=True, strata={"lang": "de", "year": "2002"}),
        Document(id="9", text="unseen", group="ben", strata={"year": "2003"}),
    ]


def test_one_bad_character_spoils_its_row_only(tmp_path: Path) -> None:
    file = write(tmp_path / "a.parquet", {"text": broken_text(b"one", b"tw\xff", None, b"four")})
    assert reasons(items_of(file)) == {
        "a.parquet:0": "one",
        "a.parquet:1": "invalid_utf8",
        "a.parquet:2": "missing_text",
        "a.parquet:3": "four",
    }


def test_a_bad_character_in_a_message_spoils_its_chat_only(tmp_path: Path) -> None:
    contents = broken_text(b"hello", b"\xff")
    messages = pa.StructArray.from_arrays([pa.array(["user", "user"]), contents], ["role", "content"])
    file = write(tmp_path / "a.parquet", {"chat": pa.ListArray.from_arrays(pa.array([0, 1, 2], pa.int32()), messages)})
    items = items_of(file, messages="chat")
    assert items[0] == Chat("a.parquet:0", (Turn("user", "hello"),))
    assert reasons(items)["a.parquet:1"] == "invalid_utf8"


def test_any_range_of_rows_can_be_read_in_any_order(tmp_path: Path) -> None:
    texts = [f"row {number}" for number in range(1000)]
    part = Table.of(write(tmp_path / "a.parquet", {"text": pa.array(texts)}, 300), "a", Columns())
    assert part.rows == 1000
    for start, stop in [(0, 10), (250, 620), (620, 1000), (5, 6), (299, 301), (7, 7), (999, 1000)]:
        assert [row.content["text"].decode() for row in part.slice(start, stop).read()] == texts[start:stop]  # type: ignore[index]


def test_the_layout_of_a_file_does_not_count_as_its_content(tmp_path: Path) -> None:
    texts = pa.array(["a", None, "c"] * 5)
    kinds = {"one": texts, "two": texts.dictionary_encode(), "three": texts.cast(pa.large_string())}
    hashes = set()
    for rows_a_group, (folder, column) in enumerate(kinds.items(), 2):
        (tmp_path / folder).mkdir()
        file = write(tmp_path / folder / "a.parquet", {"text": column}, rows_a_group)
        hashes.add(read(Input([Table.of(file, "a", Columns())]).slices(0, 15)).sha256)
    assert len(hashes) == 1


def test_a_column_that_is_not_there_is_an_error_that_lists_those_there(tmp_path: Path) -> None:
    with pytest.raises(InputUnfit, match=r"no column 'text'; there are body, key: .*--text-column"):
        items_of(write(tmp_path / "a.parquet", {"body": pa.array(["a"]), "key": pa.array([1])}))


def test_a_file_that_is_no_parquet_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.parquet").write_bytes(b"PAR1 nothing")
    with pytest.raises(InputUnfit, match=r"a\.parquet: cannot be read as Parquet"):
        items_of(tmp_path / "a.parquet")


def test_records_of_the_factory_have_their_attributes_as_labels(tmp_path: Path) -> None:
    attributes = [
        {"key": "first_name", "value": "Ann", "source": "profile", "grounded": True, "spans": [{"start": 0, "end": 3}]},
        {"key": "mood", "value": "glad", "source": "text", "grounded": False, "spans": []},
    ]
    file = write(
        tmp_path / "part.parquet",
        {
            "record_id": pa.array(["r-1"]),
            "text": pa.array(["Ann is here"]),
            "attributes": pa.array([attributes]),
            "language": pa.array(["English"]),
            "domain": pa.array([None], pa.string()),
            "record_type": pa.array(["letter"]),
        },
    )
    found = Input([Table.of(file, "part", RECORDS, is_records=True)])
    assert read(found.slices(0, 1)).items == (
        Document(
            id="r-1",
            text="Ann is here",
            group="r-1",
            labels=(Label(0, 3, "first_name"),),
            labelled=True,
            strata={"language": "English", "record_type": "letter"},
        ),
    )
