"""Folders of sandboxes in the folder for temporary files: each goes with its program, or with the next one's start.

Whoever uses one holds a lock on it, which the kernel takes back when its process ends in whatever way.
"""

import fcntl
import functools
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

PREFIX = "sandbox-"
SETTLED_S = 60.0  # a younger one may have been made a moment ago, and not be locked yet


@contextmanager
def own_folder() -> Iterator[Path]:
    """Give an empty folder that goes with the block. The first of a process clears away what killed ones have left."""
    home = Path(tempfile.gettempdir())
    _clear_once(home)
    with tempfile.TemporaryDirectory(prefix=PREFIX, dir=home) as name:
        held = _locked(Path(name))
        try:
            yield Path(name)
        finally:
            if held is not None:
                os.close(held)


def clear_left(home: Path) -> list[Path]:
    """Delete the folders of sandboxes in ``home`` whose processes have ended, and return them."""
    cleared = []
    for folder in home.glob(f"{PREFIX}*"):
        try:
            facts = folder.lstat()
            if facts.st_uid != os.getuid() or time.time() - facts.st_mtime < SETTLED_S:
                continue
            held = _locked(folder)
        except (FileNotFoundError, NotADirectoryError):  # gone with its process in this moment, or somebody else's file
            continue
        if held is not None:
            shutil.rmtree(folder, ignore_errors=True)  # what cannot be deleted harms no program
            os.close(held)
            cleared.append(folder)
    return cleared


@functools.cache
def _clear_once(home: Path) -> None:
    clear_left(home)


def _locked(folder: Path) -> int | None:
    """Lock a folder, and return the descriptor that holds the lock; None where another process does."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        return None
    return descriptor
