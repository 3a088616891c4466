"""Files that only their owner may read: maps of pseudonyms, reports. Each appears whole or not at all."""

import fcntl
import os
import secrets
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import ValidationError

from tasks.cleaning.pseudonyms import PseudonymMap
from tasks.cleaning.values import Value

_OWNER_ONLY = 0o600


class MapUnusable(ValueError):
    """A map of pseudonyms cannot be read; the message tells nothing of what is in it."""


@contextmanager
def private_file(path: Path) -> Iterator[IO[str]]:
    """Write ``path`` for its owner alone to read; it appears whole and durable when the block ends, or not at all."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read_map(path: Path) -> PseudonymMap:
    """Read a map.

    Raises:
        MapUnusable: it is not there, or is none.
    """
    try:
        return PseudonymMap.model_validate_json(path.read_bytes())
    except FileNotFoundError as error:
        raise MapUnusable(f"{path}: no such map of pseudonyms") from error
    except ValidationError:
        raise MapUnusable(f"{path}: not a map of pseudonyms: restore it from a copy, or move it away") from None


def map_with(path: Path, values: Iterable[Value]) -> PseudonymMap:
    """Return the map at ``path`` with ``values`` in it, after it is safely on disk; no two processes at once.

    Raises:
        MapUnusable: what is there is no map.
    """
    with _locked(path):
        before = read_map(path) if path.exists() else PseudonymMap()
        after = before.with_values(values)
        if after != before or not path.exists():
            with private_file(path) as file:
                file.write(after.model_dump_json(indent=1))
    return after


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path.with_name(f".{path.name}.lock"), os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, _OWNER_ONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)  # and with it the lock
