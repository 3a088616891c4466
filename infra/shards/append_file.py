"""A file on this machine that only grows."""

import os
import threading
from pathlib import Path
from typing import Self

from infra.shards.local_files import make_directory, naming, sync_directory


class AppendFile:
    """A file that grows by whole writes, made durable in batches by a thread of its own.

    Each ``append`` is one ``write``: what it was given survives the death of the process. What survives a power cut is
    everything up to the last batch. Not for several threads at once.
    """

    def __init__(self, path: Path, *, sync_events: int, sync_seconds: float) -> None:
        make_directory(path.parent)
        self._path = path
        self._sync_events = sync_events
        self._sync_seconds = sync_seconds
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o666)
        self._size = os.fstat(self._descriptor).st_size
        self._written = 0  # counted here only, as _synced is in the thread only: no lock is needed
        self._synced = 0
        self._failure: OSError | None = None
        self._closing = False
        self._wake = threading.Event()
        self._thread = threading.Thread(target=self._sync_in_batches, name=f"sync {path.name}", daemon=True)
        sync_directory(path.parent)
        self._thread.start()

    def append(self, data: bytes) -> None:
        """Write ``data`` at the end, whole or not at all.

        Raises:
            OSError: the disk is full, or an earlier batch could not be made durable.
        """
        self._raise_failure()
        with naming(self._path):
            written = os.write(self._descriptor, data)
        if written != len(data):
            os.ftruncate(self._descriptor, self._size)
            raise OSError(f"{self._path}: {written} of {len(data)} bytes written, is the disk full? They were cut off.")
        self._size += written
        self._written += 1
        if self._written - self._synced >= self._sync_events:
            self._wake.set()

    def close(self) -> None:
        """Make everything durable and let go of the file; once more does nothing."""
        if self._closing:
            return
        self._closing = True
        self._wake.set()
        self._thread.join()
        self._sync()
        os.close(self._descriptor)
        self._descriptor = -1  # the number may soon be another file's
        self._raise_failure()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def _sync_in_batches(self) -> None:
        while not self._closing:
            self._wake.wait(self._sync_seconds)
            self._wake.clear()
            self._sync()

    def _sync(self) -> None:
        written = self._written
        if written == self._synced or self._failure is not None:
            return
        try:
            os.fsync(self._descriptor)
        except OSError as error:  # told to the next append or close: after a failed fsync the pages may be lost
            self._failure = error
        else:
            self._synced = written

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise OSError(f"{self._path}: could not be made durable ({self._failure})") from self._failure
