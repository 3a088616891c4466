from datetime import UTC, datetime
from pathlib import Path

import pytest

from infra.llm.types import Usage
from infra.shards.manifest import (
    AlreadyCommitted,
    FileRecord,
    Manifest,
    ManifestCorrupt,
    ShardRecord,
    ShardSummary,
)
from infra.shards.ranges import ShardRange


def record(start: int, stop: int) -> ShardRecord:
    return ShardRecord(
        shard=ShardRange(start, stop),
        stage="writing",
        spec_hash="ab" * 32,
        input_hashes={"names": "cd" * 32},
        files={
            "notes": FileRecord(rows=9, bytes=100, sha256="ef" * 32),
            "rejects": FileRecord(rows=1, bytes=1, sha256="0"),
        },
        summary=ShardSummary(
            reasons={"too short": 1}, tokens=Usage(1, 2, 3, 4), cost_usd=0.25, notes={"pool": {"size": 3}}
        ),
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
        fencing_token=1,
    )


def test_what_was_put_is_found_in_the_order_of_rows(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path / "m")
    assert manifest.records() == {}
    records = [record(10, 20), record(100_000_000, 100_000_010), record(0, 10)]
    for one in records:
        manifest.put(one)
    assert list(manifest.records().values()) == [records[2], records[0], records[1]]
    assert manifest.record(ShardRange(0, 10)).rows == 10
    manifest.remove(ShardRange(10, 20))
    manifest.remove(ShardRange(10, 20))
    assert manifest.shards() == [ShardRange(0, 10), ShardRange(100_000_000, 100_000_010)]
    with pytest.raises(KeyError, match="not committed"):
        manifest.record(ShardRange(10, 20))


def test_a_shard_cannot_be_committed_over_another_commit(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    manifest.put(record(0, 10))
    with pytest.raises(AlreadyCommitted, match="part-00000000-00000010"):
        manifest.put(record(0, 10))
    assert [path.name for path in tmp_path.iterdir()] == ["part-00000000-00000010.json"]


@pytest.mark.parametrize("content", ["", "\0\0\0\0", "{}", '{"shard": ', "[1]"])
def test_a_corrupt_entry_names_its_file_and_the_repair(tmp_path: Path, content: str) -> None:
    manifest = Manifest(tmp_path)
    manifest.put(record(0, 10))
    manifest.path(ShardRange(0, 10)).write_text(content)
    with pytest.raises(
        ManifestCorrupt, match=r"part-00000000-00000010\.json: .*repair --yes` set it aside, then resume"
    ):
        manifest.records()


def test_an_entry_under_another_name_is_corrupt(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    manifest.put(record(0, 10))
    manifest.path(ShardRange(0, 10)).rename(manifest.path(ShardRange(10, 20)))
    with pytest.raises(ManifestCorrupt, match="speaks of part-00000000-00000010"):
        manifest.records()


def test_two_entries_cannot_claim_the_same_row(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    manifest.put(record(0, 10))
    manifest.put(record(9, 20))
    with pytest.raises(ManifestCorrupt, match="row 9"):
        manifest.records()


def test_other_files_in_the_folder_are_not_entries(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path)
    manifest.put(record(0, 10))
    for name in (".part-00000010-00000020.json.1a2b.tmp", "part-00000010-00000020.json~", "part-x-y.json", "notes.txt"):
        (tmp_path / name).write_text("{}")
    assert manifest.shards() == [ShardRange(0, 10)]
