import asyncio
import os
import resource
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from infra.shards.frames import MAGIC, JournalCorrupt
from infra.shards.journal import DuplicateKey, Journal, archive_journal, read_events


def answer(body: bytes, paid: list[bytes] | None = None) -> Callable[[], Awaitable[bytes]]:
    async def produce() -> bytes:
        await asyncio.sleep(0)
        if paid is not None:
            paid.append(body)
        return body

    return produce


def write(path: Path, events: dict[str, bytes]) -> bytes:
    with Journal(path) as journal:
        for key, body in events.items():
            journal.append(key, body)
    return path.read_bytes()


async def test_an_answer_is_paid_for_once(tmp_path: Path) -> None:
    paid: list[bytes] = []
    for _ in range(2):
        with Journal(tmp_path / "a.journal") as journal:
            assert await journal.once("draft", answer(b"dear", paid)) == b"dear"
            assert await journal.once("empty", answer(b"", paid)) == b""
    assert paid == [b"dear", b""]
    assert (journal.replayed, journal.appended, len(journal)) == (2, 0, 2)


async def test_a_failed_call_leaves_nothing_and_may_be_asked_again(tmp_path: Path) -> None:
    async def fail() -> bytes:
        raise ConnectionError("no answer")

    with Journal(tmp_path / "a.journal") as journal:
        with pytest.raises(ConnectionError):
            await journal.once("draft", fail)
        assert journal.get("draft") is None
        assert await journal.once("draft", answer(b"dear")) == b"dear"
    assert len(read_events(tmp_path / "a.journal")) == 1


async def test_the_same_key_twice_at_once_is_refused_before_it_is_paid_twice(tmp_path: Path) -> None:
    paid: list[bytes] = []
    with Journal(tmp_path / "a.journal") as journal:
        results = await asyncio.gather(
            journal.once("draft", answer(b"1", paid)), journal.once("draft", answer(b"2", paid)), return_exceptions=True
        )
    assert results[0] == b"1"
    assert isinstance(results[1], DuplicateKey)
    assert paid == [b"1"]


def test_a_key_with_an_answer_cannot_be_appended_again(tmp_path: Path) -> None:
    write(tmp_path / "a.journal", {"draft": b"dear"})
    with Journal(tmp_path / "a.journal") as journal, pytest.raises(DuplicateKey):
        journal.append("draft", b"other")


def test_any_text_is_a_key(tmp_path: Path) -> None:
    keys = ["", "\ud800", "\0", "ключ" * 1000]
    write(tmp_path / "a.journal", {key: key.encode("utf-8", "replace") for key in keys})
    with Journal(tmp_path / "a.journal") as journal:
        assert [journal.get(key) for key in keys] == [key.encode("utf-8", "replace") for key in keys]


def test_a_torn_tail_is_cut_wherever_it_tears(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    ends = [len(MAGIC)]
    for key in ("a", "b", "c"):
        ends.append(len(write(path, {key: key.encode() * 9})))
    whole = path.read_bytes()
    for cut in range(len(whole)):
        path.write_bytes(whole[:cut])
        kept = max((end for end in ends if end <= cut), default=0)
        with Journal(path, sync_seconds=60) as journal:
            assert journal.torn_bytes == cut - kept
            assert len(journal) == max(0, ends.index(kept) if kept else 0)
            journal.append("d", b"next")
        assert len(read_events(path)) == len(journal)


@pytest.mark.parametrize("tail", [b"\0" * 5000, b"\xff" * 100, b"\x21\0\0\0" + b"z" * 200])
def test_what_a_power_cut_leaves_behind_the_last_frame_is_cut(tmp_path: Path, tail: bytes) -> None:
    path = tmp_path / "a.journal"
    whole = write(path, {"a": b"1", "b": b"2"})
    path.write_bytes(whole + tail)
    with Journal(path) as journal:
        assert (len(journal), journal.torn_bytes) == (2, len(tail))
    assert path.read_bytes() == whole


def test_damage_before_a_good_frame_is_an_error_with_file_and_offset(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    start = len(write(path, {"a": b"1"}))
    stop = len(write(path, {"b": b"2" * 40}))
    whole = write(path, {"c": b"3"})
    for position in range(start, stop):
        path.write_bytes(whole[:position] + bytes([whole[position] ^ 0x41]) + whole[position + 1 :])
        with pytest.raises(JournalCorrupt, match=rf"a\.journal: the frame at byte {start} .* at byte {stop}"):
            Journal(path)
    assert len(path.read_bytes()) == len(whole)  # nothing was cut


def test_a_file_of_another_kind_is_not_appended_to(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    path.write_bytes(b"PK\3\4 something else")
    with pytest.raises(JournalCorrupt, match="not a journal"):
        Journal(path)


def test_a_full_disk_is_an_error_and_leaves_no_half_event(tmp_path: Path) -> None:
    path = tmp_path / "a.journal"
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    with Journal(path) as journal:
        journal.append("a", b"1")
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 20, hard))  # a file may not grow further: a short write
        try:
            with pytest.raises(OSError, match=r"a\.journal"):
                journal.append("b", b"2" * 100)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert path.stat().st_size == size
        journal.append("b", b"3")
    with Journal(path) as journal:
        assert [journal.get(key) for key in "ab"] == [b"1", b"3"]


def test_events_become_durable_in_batches_and_not_in_the_callers_thread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    syncing: list[threading.Thread] = []
    synced = threading.Event()
    real = os.fsync

    def fsync(descriptor: int) -> None:
        real(descriptor)
        syncing.append(threading.current_thread())
        synced.set()

    with Journal(tmp_path / "a.journal", sync_events=10, sync_seconds=600) as journal:
        monkeypatch.setattr(os, "fsync", fsync)
        for n in range(8):  # the header was the first of ten
            journal.append(f"few {n}", b"")
        assert not synced.wait(0.05)
        journal.append("enough", b"")
        assert synced.wait(10)
        journal.append("last", b"")
    assert syncing[0] is not threading.current_thread()
    assert len(syncing) == 2  # one batch, and the rest at close


def test_an_event_waits_for_the_disk_no_longer_than_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    synced = threading.Event()
    with Journal(tmp_path / "a.journal", sync_events=1000, sync_seconds=0.01) as journal:
        monkeypatch.setattr(os, "fsync", lambda descriptor: synced.set())
        journal.append("a", b"1")
        assert synced.wait(10)


def test_a_disk_that_fails_to_sync_fails_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    failed = threading.Event()

    def fsync(descriptor: int) -> None:
        failed.set()
        raise OSError(5, "Input/output error")

    journal = Journal(tmp_path / "a.journal", sync_events=1)
    monkeypatch.setattr(os, "fsync", fsync)
    journal.append("a", b"1")
    assert failed.wait(10)
    with pytest.raises(OSError, match=r"a\.journal: could not be made durable"):
        journal.close()


async def test_an_archive_answers_when_its_shard_is_done_again(tmp_path: Path) -> None:
    path, archive = tmp_path / "a.journal", tmp_path / "a.journal.zst"
    write(path, {"old": b"1" * 5000, "both": b"2"})
    archive_journal(path, archive)
    assert not path.exists()
    assert archive.stat().st_size < 1000
    with Journal(path, archive=archive) as journal:
        assert journal.get("old") == b"1" * 5000
        await journal.once("both", answer(b"other"))
        await journal.once("new", answer(b"3"))
        assert (journal.replayed, journal.appended) == (1, 1)
    archive_journal(path, archive)
    assert sorted(map(len, read_events(archive).values())) == [1, 1, 5000]


def test_an_archive_made_twice_is_the_same(tmp_path: Path) -> None:
    path, archive = tmp_path / "a.journal", tmp_path / "a.journal.zst"
    whole = write(path, {"a": b"1", "b": b"2"})
    archive_journal(path, archive)
    events = read_events(archive)
    path.write_bytes(whole)  # as a crash before the removal leaves it
    archive_journal(path, archive)
    assert read_events(archive) == events
    assert len(events) == 2


def test_a_damaged_archive_is_an_error(tmp_path: Path) -> None:
    archive = tmp_path / "a.journal.zst"
    write(tmp_path / "a.journal", {"a": b"1" * 100})
    archive_journal(tmp_path / "a.journal", archive)
    archive.write_bytes(archive.read_bytes()[:-7])
    with pytest.raises(JournalCorrupt, match=r"a\.journal\.zst"):
        read_events(archive)


async def test_what_a_neighbour_paid_is_used_and_copied(tmp_path: Path) -> None:
    neighbour, path = tmp_path / "wide.journal", tmp_path / "narrow.journal"
    before = write(neighbour, {"mine": b"1", "not mine": b"2"})
    with Journal(path, neighbours=[neighbour]) as journal:
        assert await journal.once("mine", answer(b"paid again")) == b"1"
        assert (journal.replayed, journal.appended) == (1, 0)
    assert neighbour.read_bytes() == before
    with Journal(path) as journal:
        assert journal.get("mine") == b"1"
        assert journal.get("not mine") is None
