"""Rows found by place and by number across shards and row groups, against all of them read at once."""

from pathlib import Path

import pyarrow as pa
import pytest

from infra.shards.entries import WatchedManifest
from infra.shards.manifest import ShardSummary
from infra.shards.parquet import ROW_GROUP_ROWS, TableDamaged
from infra.shards.ranges import ShardRange
from infra.shards.rows import ShardedRows
from infra.shards.store import StageStore

NOTES = pa.schema([pa.field("index", pa.int64(), nullable=False), pa.field("text", pa.string(), nullable=False)])


@pytest.fixture
def notes(tmp_path: Path) -> StageStore:
    return StageStore(tmp_path, "letters", "writing", {"notes": NOTES})


def commit(store: StageStore, first: int, last: int, indices: list[int], text: str = "text") -> None:
    shard = ShardRange(first, last)
    table = pa.Table.from_pylist([{"index": index, "text": f"{text} {index}"} for index in indices], schema=NOTES)
    with store.acquire(shard) as lease:
        summary = ShardSummary(reasons={"lost": len(shard) - len(indices)})
        store.commit(shard, {"notes": table}, lease, len(indices), spec_hash="s", input_hashes={}, summary=summary)


def rows_of(store: StageStore) -> ShardedRows:
    return ShardedRows(store.layout, "notes", NOTES, WatchedManifest(store.layout.manifest).entries().entries)


def test_every_place_and_every_number_leads_to_its_row(notes: StageStore) -> None:
    large = 2 * ROW_GROUP_ROWS + 10  # three row groups
    commit(notes, 0, 10, [1, 4, 9])
    commit(notes, 10, 20, [])
    commit(notes, 20, 20 + large, list(range(20, 20 + large)))
    rows = rows_of(notes)
    everything = notes.read("notes").to_pylist()
    assert len(rows) == len(everything) == 3 + large
    for start, count in ((0, 5), (2, 2), (ROW_GROUP_ROWS, 8), (3 + ROW_GROUP_ROWS - 2, 4), (large, 50), (3 + large, 5)):
        assert rows.page(start, count, ["index", "text"]) == everything[start : start + count]
    for place in (0, 2, 3, ROW_GROUP_ROWS + 2, ROW_GROUP_ROWS + 3, 2 + large):
        found = rows.find(everything[place]["index"])
        assert found is not None
        assert rows.place_of(found) == place
        assert rows.read([found], ["text"]) == [{"text": everything[place]["text"]}]
    assert [rows.find(index) for index in (0, 5, 10, 19, 20 + large)] == [None] * 5
    with pytest.raises(IndexError, match=f"row {3 + large} of {3 + large}"):
        rows.at(3 + large)


def test_rows_are_returned_in_the_order_asked_for(notes: StageStore) -> None:
    commit(notes, 0, 3, [0, 1, 2])
    commit(notes, 3, 6, [3, 4, 5])
    rows = rows_of(notes)
    wanted = [rows.at(place) for place in (5, 0, 4, 0)]
    assert [row["index"] for row in rows.read(wanted, ["index"])] == [5, 0, 4, 0]


def test_a_file_that_is_gone_or_not_whole_is_damage(notes: StageStore) -> None:
    commit(notes, 0, 3, [0, 1, 2])
    rows, path = rows_of(notes), notes.layout.data_file("notes", ShardRange(0, 3))
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(TableDamaged, match="cannot be read"):
        rows.page(0, 1, ["text"])
    path.unlink()
    with pytest.raises(TableDamaged, match="is gone"):
        rows.find(1)


def test_a_manifest_is_read_again_only_where_it_has_changed(notes: StageStore) -> None:
    manifest = WatchedManifest(notes.layout.manifest)
    assert manifest.entries().entries == ()
    commit(notes, 0, 3, [0, 1])
    commit(notes, 3, 6, [3])
    first = manifest.entries()
    assert manifest.entries() is first
    assert (first.rows("notes"), first.rows("none"), first.reasons) == (3, 0, {"lost": 3})
    commit(notes, 0, 3, [0, 1, 2], text="other")
    second = manifest.entries()
    assert second.rows("notes") == 4
    assert second.entries[1] is first.entries[1]
    notes.manifest.remove(ShardRange(0, 3))
    assert [entry.shard for entry in manifest.entries().entries] == [ShardRange(3, 6)]


def test_an_entry_that_cannot_be_read_hides_no_other(notes: StageStore) -> None:
    commit(notes, 0, 3, [0])
    commit(notes, 3, 6, [3])
    notes.manifest.path(ShardRange(0, 3)).write_text("{")
    path = notes.manifest.path(ShardRange(3, 6))
    path.with_name("part-00000004-00000005.json").write_text(
        path.read_text().replace('"start": 3', '"start": 4').replace('"stop": 6', '"stop": 5')
    )
    found = WatchedManifest(notes.layout.manifest).entries()
    assert [entry.shard for entry in found.entries] == [ShardRange(3, 6)]
    assert found.unreadable.keys() == {"part-00000000-00000003.json", "part-00000004-00000005.json"}
    assert "repair --yes` set it aside, then resume" in found.unreadable["part-00000000-00000003.json"]
    assert "claims row 4" in found.unreadable["part-00000004-00000005.json"]
