"""One process at a time in a folder whose files belong together."""

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FILE = ".lock"


class FolderTaken(Exception):
    """Another process is at work in a folder. The message names it."""


@contextmanager
def folder_locked(folder: Path, *, wait: bool = False) -> Iterator[None]:
    """Keep other processes out of a folder, which is made; the lock ends with the process, however that ends.

    Args:
        folder: on this machine, or on a file system that knows locks.
        wait: for whoever is in it.

    Raises:
        FolderTaken: somebody is, and we are not to wait.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / _FILE).open("wb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise FolderTaken(
                f"{folder}: another process is at work in it: wait for it, or choose another folder"
            ) from error
        yield
