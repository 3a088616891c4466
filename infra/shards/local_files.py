"""The file system of this machine: whole files that appear at once or not at all."""

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TEMPORARY_SUFFIX = ".tmp"

Data = bytes | memoryview


def put(path: Path, data: Data) -> None:
    """Write ``path`` whole, durably, over what may be there."""
    publish(prepare(path, data), path)


def put_at_once(path: Path, data: Data) -> None:
    """Write ``path`` whole over what may be there, without waiting for the disk."""
    temporary = _temporary(path)
    temporary.write_bytes(data)
    temporary.replace(path)


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
    temporary = _temporary(path)
    with _opened(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL) as descriptor:
        left = memoryview(data).cast("B")
        try:
            with naming(path):
                while left:
                    left = left[os.write(descriptor, left) :]
                os.fsync(descriptor)
        except OSError:  # on a full disk, half a file only makes things worse
            temporary.unlink()
            raise
    return temporary


def _temporary(path: Path) -> Path:
    return path.with_name(f".{path.name}.{secrets.token_hex(4)}{TEMPORARY_SUFFIX}")


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


def link(source: Path, path: Path) -> None:
    """Give ``source`` a second name, over what may be there; the two are one file."""
    make_directory(path.parent)
    temporary = _temporary(path)
    temporary.hardlink_to(source)
    publish(temporary, path)


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


def folders(directory: Path) -> list[str]:
    """Return the names of the directories in ``directory``, sorted; none where it does not exist."""
    try:
        with os.scandir(directory) as found:
            return sorted(each.name for each in found if each.is_dir())
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


def stamps(directory: Path) -> dict[str, str]:
    """Return what changes whenever a file in ``directory`` is written, by name; none where it does not exist."""
    try:
        with os.scandir(directory) as found:
            return {each.name: _stamp(each.stat()) for each in found}
    except FileNotFoundError:
        return {}


def _stamp(about: os.stat_result) -> str:
    return f"{about.st_mtime_ns} {about.st_size} {about.st_ino}"  # each ``put`` makes a new file


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
def naming(path: Path) -> Iterator[None]:
    """Say where it was that the system refused to write."""
    try:
        yield
    except OSError as error:
        error.filename = str(path)
        raise
