"""What a shard has already paid for: an append-only log of answers, read back when the shard is done again."""

from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from typing import Self

from infra.shards import files
from infra.shards.frames import MAGIC, frame, key_hash, pack, scan, unpack

ARCHIVE_SUFFIX = ".zst"


class DuplicateKey(Exception):
    """Two events of one shard have the same key: the key leaves out something that tells them apart."""


class Journal:
    """The events of one shard, each a key and the answer that was given to it.

    An event is with the operating system before ``append`` returns, so that killing the process loses none; it is on
    the disk within ``sync_events`` events, about ``sync_seconds`` seconds, or at ``close``. One journal belongs to one
    event loop.

    Attributes:
        replayed: answers that ``once`` found in the past.
        appended: answers that were new.
        torn_bytes: length of the torn tail that opening has cut.
    """

    def __init__(
        self,
        path: Path,
        *,
        archive: Path | None = None,
        neighbours: Iterable[Path] = (),
        sync_events: int = 256,
        sync_seconds: float = 1.0,
    ) -> None:
        """Read the past, cut a torn tail, and open ``path`` for appending.

        Args:
            path: the open journal; created where missing.
            archive: events of this shard's last commit, where it had one.
            neighbours: journals of other shards with rows in common, where rows were cut anew after a crash. What is
                used of them is copied here.
            sync_events: so many events at most wait for the disk.
            sync_seconds: so long an event waits for the disk.

        Raises:
            JournalCorrupt: a journal is damaged other than by a torn tail.
        """
        data = files.read(path) or b""
        found = scan(data, path)
        self.replayed = 0
        self.appended = 0
        self.torn_bytes = len(data) - found.end
        self._past = _merged(read_events(archive) if archive is not None else {}, found.events)
        self._borrowed = {key: body for other in neighbours for key, body in read_events(other).items()}
        self._pending: set[bytes] = set()
        if self.torn_bytes:
            files.truncate(path, found.end)
        self._file = files.AppendFile(path, sync_events=sync_events, sync_seconds=sync_seconds)
        if not found.end:
            self._file.append(MAGIC)

    def __len__(self) -> int:
        return len(self._past)

    def get(self, key: str) -> bytes | None:
        """Return the past answer to ``key``, or None."""
        return self._find(key_hash(key))

    def append(self, key: str, body: bytes) -> None:
        """Write the answer to ``key``.

        Raises:
            DuplicateKey: ``key`` has an answer.
            OSError: it could not be written.
        """
        hashed = key_hash(key)
        if hashed in self._pending or self._find(hashed) is not None:
            raise DuplicateKey(f"key {hashed.hex()[:16]} has an answer, or is being asked, already")
        self._write(hashed, body)
        self.appended += 1

    async def once(self, key: str, produce: Callable[[], Awaitable[bytes]]) -> bytes:
        """Return the past answer to ``key``, or ask ``produce`` for it and keep what it says.

        Raises:
            DuplicateKey: the same key is being asked at this moment.
            OSError: the answer could not be written.
        """
        hashed = key_hash(key)
        if (past := self._find(hashed)) is not None:
            self.replayed += 1
            return past
        if hashed in self._pending:
            raise DuplicateKey(f"key {hashed.hex()[:16]} is being asked already")  # before it is paid for twice
        self._pending.add(hashed)
        try:
            body = await produce()
        finally:
            self._pending.discard(hashed)
        self._write(hashed, body)
        self.appended += 1
        return body

    def close(self) -> None:
        """Make all events durable and let go of the file."""
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _find(self, hashed: bytes) -> bytes | None:
        body = self._past.get(hashed)
        if body is None and (body := self._borrowed.pop(hashed, None)) is not None:
            self._write(hashed, body)
        return body

    def _write(self, hashed: bytes, body: bytes) -> None:
        self._file.append(frame(hashed, body))
        self._past[hashed] = bytes(memoryview(body))  # a copy of its size: what orjson returns holds four times as much


def read_events(path: Path) -> dict[bytes, bytes]:
    """Return the events of the open or archived journal at ``path``, none where there is none; changes nothing.

    Raises:
        JournalCorrupt: it is damaged other than by a torn tail.
    """
    data = files.read(path)
    if data is None:
        return {}
    return unpack(data, path) if path.suffix == ARCHIVE_SUFFIX else scan(data, path).events


def archive_journal(path: Path, archive: Path) -> None:
    """Move the events of the closed journal at ``path``, where there is one, into ``archive``, after what is there.

    A crash in between leaves both; the next call makes the same archive of them.
    """
    data = files.read(path)
    if data is not None:
        files.put(archive, pack(_merged(read_events(archive), scan(data, path).events)))
        files.delete(path)


def _merged(first: dict[bytes, bytes], then: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the events of both; of two answers to one key, the first was used and counts."""
    return first | {key: body for key, body in then.items() if key not in first}
