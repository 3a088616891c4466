"""All access to the file system: whole files that appear at once or not at all, and one that only grows.

Everything else in this folder goes through here, so that an object store can take its place: ``put`` is a put,
``create`` a conditional one (If-None-Match), ``sizes`` a listing, ``AppendFile`` stays on the worker's own disk.
"""

import hashlib
import os
import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

TEMPORARY_SUFFIX = ".tmp"

Data = bytes | memoryview


def put(path: Path, data: Data) -> None:
    """Write ``path`` whole, durably, over what may be there."""
    publish(prepare(path, data), path)


def create(path: Path, data: Data) -> bool:
    """Write ``path`` whole and durably unless it exists; say whether it was us (of several at once, one wins)."""
    temporary = prepare(path, data)
    try:
        path.hardlink_to(temporary)  # atomic, and unlike a rename it never replaces
    except FileExistsError:
        return False
    finally:
        temporary.unlink()
    sync_directory(path.parent)
    return True


def prepare(path: Path, data: Data) -> Path:
    """Write ``data`` durably beside ``path`` under a hidden temporary name, and return that name."""
    make_directory(path.parent)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")
    with _opened(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor:
        left = memoryview(data).cast("B")
        try:
            with _naming(path):
                while left:
                    left = left[os.write(descriptor, left) :]
                os.fsync(descriptor)
        except OSError:  # on a full disk, half a file only makes things worse
            temporary.unlink()
            raise
    return temporary


def publish(temporary: Path, path: Path) -> None:
    """Give a prepared file its name, durably."""
    temporary.replace(path)
    sync_directory(path.parent)


def read(path: Path) -> bytes | None:
    """Return the bytes of ``path``, or None where it does not exist."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def exists(path: Path) -> bool:
    """Tell whether ``path`` is there."""
    return path.exists()


def delete(path: Path) -> None:
    """Remove ``path`` durably; it may be gone already."""
    try:
        path.unlink()
    except FileNotFoundError:
        return
    sync_directory(path.parent)


def truncate(path: Path, size: int) -> None:
    """Cut ``path`` to ``size`` bytes, durably."""
    with _opened(path, os.O_WRONLY) as descriptor:
        os.ftruncate(descriptor, size)
        os.fsync(descriptor)


def names(directory: Path) -> list[str]:
    """Return the names in ``directory``, sorted; none where it does not exist."""
    try:
        return sorted(os.listdir(directory))  # noqa: PTH208 - names, not paths: there are thousands
    except FileNotFoundError:
        return []


def sizes(directory: Path) -> dict[str, int]:
    """Return name and bytes of every file in ``directory``, by name; none where it does not exist."""
    found = {}
    for name in names(directory):
        try:
            found[name] = (directory / name).stat().st_size
        except FileNotFoundError:  # another process has just removed or renamed it
            continue
    return found


def age_seconds(path: Path) -> float:
    """Return the seconds since ``path`` was last written; 0 where it does not exist."""
    try:
        return max(0.0, time.time() - path.stat().st_mtime)
    except FileNotFoundError:
        return 0.0


def target_of(temporary: str) -> str | None:
    """Return the file name that a temporary name was meant for, or None for any other name."""
    if temporary.startswith(".") and temporary.endswith(TEMPORARY_SUFFIX):
        return temporary[1:].removesuffix(TEMPORARY_SUFFIX).rpartition(".")[0]
    return None


def sha256(data: Data) -> str:
    """Return the hash that manifests record, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def make_directory(path: Path) -> None:
    """Create ``path`` and its parents where missing, durably."""
    if not path.is_dir():
        make_directory(path.parent)
        path.mkdir(exist_ok=True)
        sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Make the names in ``path`` survive a power cut."""
    with _opened(path, os.O_RDONLY | os.O_DIRECTORY) as descriptor:
        os.fsync(descriptor)


@contextmanager
def _opened(path: Path, flags: int) -> Iterator[int]:
    descriptor = os.open(path, flags | os.O_CLOEXEC, 0o666)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _naming(path: Path) -> Iterator[None]:
    """Say where it was that the system refused to write."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise


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
        with _naming(self._path):
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
