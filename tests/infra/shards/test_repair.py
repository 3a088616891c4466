"""Damage made for real, found, and mended; and what must not be touched."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from infra.shards.failures import Attempt, FailureNotes
from infra.shards.frames import MAGIC, frame, key_hash
from infra.shards.journal import read_events
from infra.shards.lease import LeaseState, current
from infra.shards.owner import Owner
from infra.shards.plan import plan
from infra.shards.ranges import ShardRange
from infra.shards.repair import Outcome, find_repairs, mend
from infra.shards.store import StageStore
from infra.shards.verify import verify
from tests.infra.shards.samples import commit, make_store

SHARD = ShardRange(0, 10)
OTHER = ShardRange(10, 20)
MOMENT = datetime(2026, 11, 30, 8, 0, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> StageStore:
    """Two committed shards, the first with a journal of one answer."""
    made = make_store(tmp_path)
    with made.acquire(SHARD) as lease:
        with made.journal(lease) as journal:
            journal.append("question", b"answer")
        commit(made, SHARD, lease=lease)
    commit(made, OTHER)
    return made


def mended(store: StageStore) -> dict[str, Outcome]:
    return {repair.kind: outcome for repair, outcome in mend(store, find_repairs(store), MOMENT)}


def aside(store: StageStore) -> list[str]:
    folder = Path(str(store.layout.manifest)).parents[1] / "aside" / "20261130T080000"
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def change(path: Path, edit: Callable[[bytes], bytes]) -> None:
    path.write_bytes(edit(path.read_bytes()))


def data_file(store: StageStore, shard: ShardRange = SHARD) -> Path:
    return Path(str(store.layout.data_file("notes", shard)))


def states(store: StageStore) -> list[str]:
    return [each.state for each in plan(store, ShardRange(0, 20), 10, "spec-1").shards]


def test_a_sound_stage_needs_nothing(store: StageStore) -> None:
    assert find_repairs(store) == []


def test_looking_changes_nothing(store: StageStore, tmp_path: Path) -> None:
    change(data_file(store), lambda data: data[:-1])
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    assert [repair.kind for repair in find_repairs(store)] == ["content_differs"]
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before


def test_a_changed_file_goes_aside_with_its_entry_and_the_shard_is_to_be_made(store: StageStore) -> None:
    change(data_file(store), lambda data: data[:-1] + b"?")
    assert mended(store) == {"content_differs": "done"}
    assert aside(store) == ["part-00000000-00000010.json", "part-00000000-00000010.parquet"]
    assert states(store) == ["open", "committed"]
    assert read_events(store.layout.archive(SHARD)) == {key_hash("question"): b"answer"}
    commit(store, SHARD)
    assert verify(store) == []


def test_a_file_that_is_gone_takes_its_entry_along(store: StageStore) -> None:
    data_file(store).unlink()
    assert mended(store) == {"file_missing": "done"}
    assert aside(store) == ["part-00000000-00000010.json"]
    assert states(store) == ["open", "committed"]


def test_an_entry_that_cannot_be_read_goes_aside(store: StageStore) -> None:
    Path(str(store.manifest.path(SHARD))).write_text("{}", encoding="utf-8")
    assert mended(store)["manifest_corrupt"] == "done"
    assert states(store) == ["open", "committed"]


def test_an_orphan_goes_aside(store: StageStore) -> None:
    orphan = data_file(store, ShardRange(20, 30))
    orphan.write_bytes(data_file(store).read_bytes())
    assert mended(store) == {"orphan": "done"}
    assert not orphan.exists()
    assert aside(store) == ["part-00000020-00000030.parquet"]


def test_temporary_files_of_the_dead_are_removed(store: StageStore) -> None:
    left = data_file(store).with_name(".part-00000000-00000010.parquet.0a1b2c3d.tmp")
    left.write_bytes(b"half")
    assert mended(store) == {"temporary": "done"}
    assert not left.exists()


def test_the_journal_of_a_finished_shard_is_archived(store: StageStore) -> None:
    journal = Path(str(store.layout.open_journal(OTHER)))
    journal.write_bytes(MAGIC + frame(key_hash("late"), b"answer"))
    assert mended(store) == {"journal_open": "done"}
    assert not journal.exists()
    assert read_events(store.layout.archive(OTHER)) == {key_hash("late"): b"answer"}


def open_journal(store: StageStore, data: bytes) -> Path:
    journal = Path(str(store.layout.open_journal(ShardRange(20, 30))))
    journal.write_bytes(data)
    return journal


ONE, TWO, THREE = (frame(key_hash(name), name.encode()) for name in ("one", "two", "three"))


def test_a_torn_tail_is_cut_and_kept_aside(store: StageStore) -> None:
    journal = open_journal(store, MAGIC + ONE + TWO[:-3])
    assert mended(store) == {"journal_torn": "done"}
    assert journal.read_bytes() == MAGIC + ONE
    assert aside(store) == ["part-00000020-00000030.journal"]


def test_a_journal_damaged_in_the_middle_keeps_what_is_whole_on_both_sides(store: StageStore) -> None:
    damaged = bytearray(TWO)
    damaged[-1] ^= 1
    journal = open_journal(store, MAGIC + ONE + bytes(damaged) + THREE)
    assert mended(store) == {"journal_corrupt": "done"}
    assert journal.read_bytes() == MAGIC + ONE + THREE
    assert aside(store) == ["part-00000020-00000030.journal"]
    assert verify(store) == []


def test_a_damaged_archive_goes_aside(store: StageStore) -> None:
    archive = Path(str(store.layout.archive(SHARD)))
    change(archive, lambda data: data[:-4])
    assert mended(store) == {"journal_corrupt": "done"}
    assert not archive.exists()


def lease_file(store: StageStore, shard: ShardRange, *, ago_s: float, ttl_s: float = 60) -> Path:
    """Write the lease of a worker on a host that nobody can look at."""
    owner = Owner(host="elsewhere", place="another kernel", pid=1, started="1")
    moment = datetime.now(UTC) - timedelta(seconds=ago_s)
    state = LeaseState(shard=shard, token=7, owner=owner, renewed_at=moment, ttl_s=ttl_s)
    path = Path(str(store.layout.lease)) / f"{shard.name}.7.json"
    path.write_text(state.model_dump_json(), encoding="utf-8")
    return path


def test_a_lease_out_of_time_is_released_under_a_higher_token(store: StageStore) -> None:
    lease_file(store, ShardRange(20, 30), ago_s=120)
    assert mended(store) == {"lease_old": "done"}
    state = current(store.layout.lease, ShardRange(20, 30))
    assert state is not None
    assert (state.token, state.released) == (8, True)
    assert find_repairs(store) == []


def test_a_lease_that_cannot_be_read_goes_aside_first(store: StageStore) -> None:
    path = lease_file(store, SHARD, ago_s=120)
    path.write_text("{", encoding="utf-8")
    data_file(store, OTHER).unlink()
    assert mended(store) == {"lease_corrupt": "done"}
    assert aside(store) == [path.name]
    assert mended(store) == {"file_missing": "done"}


def test_what_a_live_lease_covers_is_left_alone(store: StageStore) -> None:
    change(data_file(store), lambda data: data[:-1])
    found = find_repairs(store)
    lease_file(store, SHARD, ago_s=0)
    assert [outcome for _, outcome in mend(store, found, MOMENT)] == ["held"]
    assert data_file(store).exists()
    assert find_repairs(store) == []  # nor is it found while somebody works there


def test_what_has_changed_since_it_was_looked_at_is_left_alone(store: StageStore) -> None:
    change(data_file(store), lambda data: data[:-1])
    found = find_repairs(store)
    commit(store, SHARD)
    assert [outcome for _, outcome in mend(store, found, MOMENT)] == ["changed"]
    assert verify(store) == []


def test_the_failure_note_of_a_finished_shard_is_deleted_and_others_stay(store: StageStore) -> None:
    notes = FailureNotes(store.layout)
    for shard in (SHARD, ShardRange(20, 30)):
        notes.put(shard, ValueError("no"))
    assert mended(store) == {"note_old": "done"}
    assert list(notes.all()) == [ShardRange(20, 30)]


def test_what_is_somebody_elses_is_for_hands(store: StageStore) -> None:
    (data_file(store).parent / "notes.txt").write_text("mine", encoding="utf-8")
    assert mended(store) == {"stranger": "by hand"}


def test_an_attempt_notes_its_failure_counts_it_and_forgets_it_with_success(store: StageStore) -> None:
    notes, shard = FailureNotes(store.layout), ShardRange(20, 30)
    for _ in range(2):
        with pytest.raises(ValueError, match="no room"), Attempt(store.layout, shard):
            raise ValueError(f"{shard.name}: no room")
    assert str(notes.all()[shard]) == "ValueError: no room, 2 times in a row"
    with pytest.raises(KeyError), Attempt(store.layout, shard, (KeyError,)):
        raise KeyError
    assert notes.all()[shard].attempts == 2
    with Attempt(store.layout, shard):
        pass
    assert notes.all() == {}
