"""All access to data, here or in an object store: whole files that appear at once or not at all.

Everything else in this folder goes through here. A file of this machine is renamed into its place when it is on the
disk; an object is put whole. ``create`` is a hard link here and a conditional put (If-None-Match) there.
"""

import hashlib
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from typing import Protocol, TypeVar

from infra.settings import settings
from infra.shards import local_files as local
from infra.shards import objects
from infra.shards.local_files import Data, make_directory, target_of
from infra.shards.location import Location, ObjectPath
from infra.shards.ranged import RangedObject

__all__ = ["Data", "make_directory", "target_of"]  # those of files that are on this machine always

AT_ONCE = 32  # requests; each waits for the network nearly all of its time

T = TypeVar("T")
R = TypeVar("R")


class Staged(Protocol):
    """A file that is about to replace another, or to be the first of its name."""

    def publish(self, check: Callable[[], None]) -> None:
        """Give it its name, durably, if ``check`` raises nothing right before."""
        ...

    def discard(self) -> None:
        """Take it back, if it was not published."""
        ...


def put(path: Location, data: Data, *, durable: bool = True) -> None:
    """Write ``path`` whole over what may be there.

    Args:
        path: what to write.
        data: its content.
        durable: wait for the disk; what is not may be an older file after a power cut.
    """
    if isinstance(path, ObjectPath):
        objects.put(path, data)
    elif durable:
        local.put(path, data)
    else:
        local.put_at_once(path, data)


def create(path: Location, data: Data) -> bool:
    """Write ``path`` whole and durably unless it exists; say whether it was us (of several at once, one wins)."""
    return objects.create(path, data) if isinstance(path, ObjectPath) else local.create(path, data)


def stage(path: Location, data: Data) -> Staged:
    """Get ``data`` ready to be published at ``path``; here that takes the time and the room, there it takes none."""
    if isinstance(path, ObjectPath):
        return objects.StagedObject(path, data)
    return _StagedFile(local.prepare(path, data), path)


def read(path: Location) -> bytes | None:
    """Return the bytes of ``path``, or None where it does not exist."""
    return objects.read(path) if isinstance(path, ObjectPath) else local.read(path)


def opened(path: Location) -> BufferedReader:
    """Return ``path`` open for reading; of an object, only what is asked for is fetched.

    Raises:
        FileNotFoundError: it does not exist.
    """
    return BufferedReader(RangedObject(path)) if isinstance(path, ObjectPath) else path.open("rb")


def exists(path: Location) -> bool:
    """Tell whether the file ``path`` is there."""
    return objects.version(path) is not None if isinstance(path, ObjectPath) else local.exists(path)


def is_folder(path: Location) -> bool:
    """Tell whether ``path`` is a folder; in an object store, one that holds something."""
    return objects.has_any(path) if isinstance(path, ObjectPath) else path.is_dir()


def make_folder(path: Location) -> None:
    """Make a folder and those above it; an object store needs none.

    Raises:
        OSError: it cannot be made.
        StorageRefused: the store does not let us write, or lets two writers overwrite each other.
        StorageUnavailable: the store does not answer.
    """
    if isinstance(path, ObjectPath):
        objects.check_store(path)
    else:
        path.mkdir(parents=True, exist_ok=True)


def link(source: Location, path: Location) -> None:
    """Give a file of the same store another name, over what may be there; an object is copied.

    Raises:
        ValueError: one is in an object store, the other is not.
    """
    if isinstance(source, ObjectPath) and isinstance(path, ObjectPath):
        objects.copy(source, path)
    elif isinstance(source, Path) and isinstance(path, Path):
        local.link(source, path)
    else:
        raise ValueError(f"{source} and {path} are not in the same store")


def delete(path: Location) -> None:
    """Remove ``path`` durably; it may be gone already."""
    if isinstance(path, ObjectPath):
        objects.delete([path])
    else:
        local.delete(path)


def names(folder: Location, start: str = "") -> list[str]:
    """Return the names in ``folder`` that begin with ``start``, sorted; none where it does not exist."""
    if isinstance(folder, ObjectPath):
        return objects.names(folder, start)
    return [name for name in local.names(folder) if name.startswith(start)]


def folders(folder: Location) -> list[str]:
    """Return the names of the folders right in ``folder``, sorted; none where it does not exist."""
    return objects.folders(folder) if isinstance(folder, ObjectPath) else local.folders(folder)


def sizes(folder: Location) -> dict[str, int]:
    """Return name and bytes of every file in ``folder``, by name; none where it does not exist."""
    return objects.sizes(folder) if isinstance(folder, ObjectPath) else local.sizes(folder)


def stamps(folder: Location) -> dict[str, str]:
    """Return, for every file in ``folder``, what changes whenever it is written; none where it does not exist."""
    return objects.stamps(folder) if isinstance(folder, ObjectPath) else local.stamps(folder)


def age_seconds(path: Location) -> float:
    """Return the seconds since ``path`` was last written; 0 where it does not exist."""
    return objects.age_seconds(path) if isinstance(path, ObjectPath) else local.age_seconds(path)


def mapped(function: Callable[[T], R], items: Sequence[T], place: Location) -> list[R]:
    """Return ``function`` of each item in order; many at once where ``place`` is behind a network."""
    if not isinstance(place, ObjectPath) or len(items) < 2:
        return [function(item) for item in items]
    context = copy_context()  # each thread sees what its caller does, such as its look at manifests
    with ThreadPoolExecutor(min(AT_ONCE, len(items))) as pool:
        return list(pool.map(lambda item: context.copy().run(function, item), items))


def here(path: Location) -> Path:
    """Return ``path`` itself, or where this machine keeps its own part of it before an object store has it."""
    return settings().scratch_folder / path.bucket / path.key if isinstance(path, ObjectPath) else path


def sha256(data: Data) -> str:
    """Return the hash that manifests record, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


@dataclass(frozen=True, slots=True)
class _StagedFile:
    temporary: Path
    path: Path

    def publish(self, check: Callable[[], None]) -> None:
        check()
        local.publish(self.temporary, self.path)

    def discard(self) -> None:
        local.delete(self.temporary)
