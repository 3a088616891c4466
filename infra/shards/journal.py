"""What a shard has already paid for: an append-only log of answers, read back when the shard is done again."""

from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Protocol, Self

from infra.shards import files, local_files, objects
from infra.shards.append_file import AppendFile
from infra.shards.frames import MAGIC, frame, key_hash, pack, scan, unpack
from infra.shards.location import Location, ObjectPath
from infra.shards.segments import Segment, Shipper, pieces, read_segments, segments

ARCHIVE_SUFFIX = ".zst"


class DuplicateKey(Exception):
    """Two events of one shard have the same key: the key leaves out something that tells them apart."""


class Fence(Protocol):
    """The right to write a journal that others may take over: a lease."""

    @property
    def token(self) -> int:
        """The fencing token."""
        ...

    def check_unless_fresh(self) -> None:
        """Raise ``LeaseLost`` if the right is lost."""
        ...


class Journal:
    """The events of one shard, each a key and the answer that was given to it.

    An event is with the operating system before ``append`` returns, so that killing the process loses none; it is on
    the disk within ``sync_events`` events, about ``sync_seconds`` seconds, or at ``close``. Where the root is in an
    object store, this machine's disk has the events first, and the store some seconds later (see ``segments``). One
    journal belongs to one event loop.

    Attributes:
        replayed: answers that ``once`` found in the past.
        appended: answers that were new.
        torn_bytes: length of the torn tail that opening has cut.
    """

    def __init__(
        self,
        path: Location,
        *,
        archive: Location | None = None,
        neighbours: Iterable[Location] = (),
        fence: Fence | None = None,
        sync_events: int = 256,
        sync_seconds: float = 1.0,
    ) -> None:
        """Read the past, cut a torn tail, and open ``path`` for appending.

        Args:
            path: the open journal; created where missing.
            archive: events of this shard's last commit, where it had one.
            neighbours: journals of other shards with rows in common, where rows were cut anew after a crash. What is
                used of them is copied here.
            fence: the lease of the shard; a journal in an object store needs one.
            sync_events: so many events at most wait for the disk.
            sync_seconds: so long an event waits for the disk.

        Raises:
            JournalCorrupt: a journal is damaged other than by a torn tail.
        """
        here = files.here(path)
        data = local_files.read(here) or b""
        found = scan(data, here)
        sent = segments(path) if isinstance(path, ObjectPath) else []
        shipped = read_segments(path, sent) if isinstance(path, ObjectPath) else {}
        self.replayed = 0
        self.appended = 0
        self.torn_bytes = len(data) - found.end
        self._past = _merged(read_events(archive) if archive is not None else {}, shipped, found.events)
        self._borrowed = {key: body for other in neighbours for key, body in read_events(other).items()}
        self._pending: set[bytes] = set()
        if self.torn_bytes:
            local_files.truncate(here, found.end)
        self._file = AppendFile(here, sync_events=sync_events, sync_seconds=sync_seconds)
        if not found.end:
            self._file.append(MAGIC)
        self._shipper: Shipper | None = None
        if isinstance(path, ObjectPath):
            if fence is None:
                raise ValueError(f"{path}: a journal in an object store is written under a lease")
            last = max((each.number for each in sent if each.token == fence.token), default=0)
            self._shipper = Shipper(path, Segment(fence.token, last), fence.check_unless_fresh)
            for key, body in found.events.items():
                if key not in shipped:  # a process that died here had not sent it yet
                    self._shipper.add(key, body)

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
        """Make all events durable and let go of the file.

        Raises:
            OSError: this machine's disk did not take them.
            StorageUnavailable, StorageRefused: the object store did not. This machine has them still.
            LeaseLost: there were events for the object store, and another worker has taken over.
        """
        try:
            self._file.close()
        finally:
            if self._shipper is not None:
                self._shipper.close()

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
        kept = bytes(memoryview(body))  # a copy of its size: what orjson returns holds four times as much
        self._past[hashed] = kept
        if self._shipper is not None:
            self._shipper.add(hashed, kept)


def read_events(path: Location) -> dict[bytes, bytes]:
    """Return the events of the open or archived journal at ``path``, none where there is none; changes nothing.

    Raises:
        JournalCorrupt: it is damaged other than by a torn tail.
    """
    if path.suffix != ARCHIVE_SUFFIX:
        here = files.here(path)
        found = scan(local_files.read(here) or b"", here).events
        return _merged(read_segments(path, segments(path)), found) if isinstance(path, ObjectPath) else found
    data = files.read(path)
    return {} if data is None else unpack(data, path)


def open_pieces(path: Location) -> Iterator[tuple[Location, bytes]]:
    """Yield place and bytes of all that an open journal consists of: the file, or this machine's file and segments."""
    here = files.here(path)
    data = local_files.read(here)
    if data is not None:
        yield here, data
    if isinstance(path, ObjectPath):
        yield from pieces(path, segments(path))


def archive_journal(path: Location, archive: Location, token: int | None = None) -> None:
    """Move the events of the closed journal at ``path``, where there is one, into ``archive``, after what is there.

    A crash in between leaves both; the next call makes the same archive of them.

    Args:
        path: the open journal.
        archive: where its events go.
        token: of the lease under which this process has written the journal, if it has: this machine has all events
            of that time, so that the store need not be asked for them.
    """
    here = files.here(path)
    data = local_files.read(here)
    if not isinstance(path, ObjectPath):
        if data is not None:
            files.put(archive, pack(_merged(read_events(archive), scan(data, here).events)))
            files.delete(path)
        return
    shipped = segments(path)
    if data is None and not shipped:
        return
    others = read_segments(path, [each for each in shipped if data is None or each.token != token])
    files.put(archive, pack(_merged(read_events(archive), others, scan(data or b"", here).events)))
    objects.delete([path / each.name for each in shipped])
    local_files.delete(here)


def _merged(*journals: dict[bytes, bytes]) -> dict[bytes, bytes]:
    """Return the events of all; of two answers to one key, the first was used and counts."""
    events: dict[bytes, bytes] = {}
    for journal in journals:
        events |= {key: body for key, body in journal.items() if key not in events}
    return events
