"""The part of a journal that an object store has: segments, each with the events of some seconds, never changed.

An object cannot grow. So the events of a shard that is being worked on go to a file of the worker's own machine, as
they do where the root is a folder, and a few seconds later, many together, into an object of their own. The death of
a process loses none; the loss of a machine loses those of the last seconds.
"""

import re
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from infra.shards import files, objects
from infra.shards.frames import pack, unpack
from infra.shards.location import ObjectPath

SEGMENT_SECONDS = 10.0
SEGMENT_BYTES = 2**22  # of events, before they are compressed

_NAME = re.compile(r"(\d{8,})-(\d{6,})\.zst")


@dataclass(frozen=True, slots=True, order=True)
class Segment:
    """The name of a segment.

    Attributes:
        token: fencing token of the lease under which it was written.
        number: its place among those of this token.
    """

    token: int
    number: int

    @property
    def name(self) -> str:
        """The object's name; names sort as the segments were written, tokens below ten to the eighth."""
        return f"{self.token:08d}-{self.number:06d}.zst"


def segments(folder: ObjectPath) -> list[Segment]:
    """Return the segments of a journal, in the order of writing."""
    return sorted(Segment(int(found[1]), int(found[2])) for found in map(_NAME.fullmatch, files.names(folder)) if found)


def pieces(folder: ObjectPath, wanted: Sequence[Segment]) -> Iterator[tuple[ObjectPath, bytes]]:
    """Yield place and bytes of each of these segments of a journal, in their order."""
    paths = [folder / each.name for each in wanted]
    for path, data in zip(paths, files.mapped(objects.read, paths, folder), strict=True):
        if data is not None:  # else it has just gone into the archive
            yield path, data


def read_segments(folder: ObjectPath, wanted: Sequence[Segment]) -> dict[bytes, bytes]:
    """Return the events of these segments of a journal; of two answers to one key, the first written counts.

    Raises:
        JournalCorrupt: a segment is damaged.
    """
    events: dict[bytes, bytes] = {}
    for path, data in pieces(folder, wanted):
        for key, body in unpack(data, path).items():
            events.setdefault(key, body)
    return events


class Shipper:
    """Sends events to the store by a thread of its own: those of some seconds, or of some megabytes, as one segment."""

    def __init__(
        self,
        folder: ObjectPath,
        after: Segment,
        fence: Callable[[], None],
        *,
        seconds: float = SEGMENT_SECONDS,
    ) -> None:
        """Start the thread.

        Args:
            folder: the journal.
            after: under which token segments are written, and the last that has been.
            fence: raises if the lease is lost: what others have begun to go on from must not grow behind their back.
            seconds: so long an event waits at most before it is sent.
        """
        self._folder = folder
        self._token, self._number = after.token, after.number
        self._fence = fence
        self._seconds = seconds
        self._waiting: dict[bytes, bytes] = {}
        self._bytes = 0
        self._lock = threading.Lock()
        self._failure: Exception | None = None
        self._closing = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._ship_in_batches, name=f"ship {folder.name}", daemon=True)
        self._thread.start()

    def add(self, key: bytes, body: bytes) -> None:
        """Take in an event, which this machine has on its disk.

        Raises:
            StorageUnavailable, StorageRefused: an earlier segment could not be sent.
            LeaseLost: another worker has taken over.
        """
        self._raise_failure()
        with self._lock:
            self._waiting[key] = body
            self._bytes += len(body)
        if self._bytes >= SEGMENT_BYTES:
            self._wake.set()

    def close(self) -> None:
        """Send what waits and end the thread; once more does nothing. Errors as of ``add``."""
        if self._closing:
            return
        self._closing = True
        self._wake.set()
        self._thread.join()
        self._ship()
        self._raise_failure()

    def _ship_in_batches(self) -> None:
        while not self._closing:
            self._wake.wait(self._seconds)
            self._wake.clear()
            self._ship()

    def _ship(self) -> None:
        with self._lock:
            events, self._waiting, self._bytes = self._waiting, {}, 0
        if not events or self._failure is not None:
            return
        try:
            self._fence()
            data = pack(events)
            self._number += 1
            while not objects.create(self._folder / Segment(self._token, self._number).name, data):
                self._number += 1
        except Exception as error:  # noqa: BLE001 - told to the next ``add`` or ``close``, in the caller's thread
            self._failure = error

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
