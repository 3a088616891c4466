"""Folders in the cache that take long to make: made once, whole or not at all, and used only as they were made."""

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

_CHUNK_BYTES = 1 << 22


def made_once(target: Path, make: Callable[[Path], None]) -> Path:
    """Return ``target`` as ``make`` has written it, by this process, another, or a year ago.

    A stamp beside the folder has the SHA-256, size and time of each file. As long as sizes and times are those of the
    stamp, the folder is used as it is; where they are not, the files are read and compared, and the folder is made anew
    if one is another than it was. Processes that want it at once wait for the first.

    Args:
        target: appears under its name when it is finished.
        make: writes the folder that it is given; there is none yet.
    """
    stamp = target.with_name(f"{target.name}.json")
    if not _is_as_stamped(target, stamp):
        target.parent.mkdir(parents=True, exist_ok=True)
        with _locked(target.with_name(f"{target.name}.lock")):
            if not _is_as_stamped(target, stamp):  # another process may have been quicker
                _make(target, stamp, make)
    return target


def _make(target: Path, stamp: Path, make: Callable[[Path], None]) -> None:
    part = target.with_name(f"{target.name}.part")  # ours alone under the lock
    for old in (part, target):  # what a killed process left; what is damaged
        if old.exists():
            shutil.rmtree(old)
    make(part)
    for file in part.iterdir():
        with file.open("rb") as written:
            os.fsync(written.fileno())
    part.replace(target)
    _write_stamp(target, stamp, {file.name: _sha256(file) for file in sorted(target.iterdir())})


def _is_as_stamped(target: Path, stamp: Path) -> bool:
    if not (target.is_dir() and stamp.is_file()):
        return False
    stamped = json.loads(stamp.read_text(encoding="utf-8"))
    if sorted(stamped) != sorted(file.name for file in target.iterdir()):
        return False
    if all(_look(target / name) == [size, mtime_ns] for name, (size, mtime_ns, _) in stamped.items()):
        return True
    sha256s = {name: sha256 for name, (_, _, sha256) in stamped.items()}
    if any(_sha256(target / name) != sha256 for name, sha256 in sha256s.items()):
        return False
    _write_stamp(target, stamp, sha256s)  # copied or touched, and still the same
    return True


def _write_stamp(target: Path, stamp: Path, sha256s: dict[str, str]) -> None:
    temporary = stamp.with_name(f"{stamp.name}.{os.getpid()}.tmp")
    temporary.write_text(
        json.dumps({name: [*_look(target / name), sha256] for name, sha256 in sha256s.items()}), encoding="utf-8"
    )
    temporary.replace(stamp)


def _look(file: Path) -> list[int]:
    status = file.stat()
    return [status.st_size, status.st_mtime_ns]


def _sha256(file: Path) -> str:
    digest = hashlib.sha256()
    with file.open("rb") as source:
        while chunk := source.read(_CHUNK_BYTES):
            digest.update(chunk)
    return digest.hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Hold a file lock, which ends with the process that holds it."""
    with path.open("wb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
