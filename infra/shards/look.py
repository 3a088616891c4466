"""One look at manifests in an object store: each is listed once, and what has not changed is not read again.

A plan asks for thousands of entries, one by one, and a command plans several times. An entry is written once; whether
it is still the one that this process has read is in the listing, which takes a request for a thousand of them.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from threading import Lock

from infra.shards import files, objects
from infra.shards.location import Location, ObjectPath

_READ: dict[ObjectPath, dict[str, tuple[str, bytes]]] = {}  # by this process: folder -> name -> version, bytes


@dataclass(frozen=True, slots=True)
class _Look:
    """What was listed in it: folder -> name -> version. Threads share it."""

    listed: dict[ObjectPath, Mapping[str, str]] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)

    def versions(self, folder: ObjectPath) -> Mapping[str, str]:
        with self.lock:
            if (versions := self.listed.get(folder)) is None:
                versions = self.listed[folder] = files.stamps(folder)
                known = _READ.get(folder, {}).items()
                _READ[folder] = {name: entry for name, entry in known if versions.get(name) == entry[0]}
            return versions

    def read(self, path: ObjectPath) -> bytes | None:
        version = self.versions(path.parent).get(path.name)
        if version is None:
            return None
        known = _READ[path.parent].get(path.name)
        if known is not None and known[0] == version:
            return known[1]
        found = objects.read_part(path)
        if found is None:
            return None
        data, version = found  # perhaps a newer one than the listed
        _READ[path.parent][path.name] = version, data
        return data


_LOOK: ContextVar[_Look | None] = ContextVar("look", default=None)


@contextmanager
def one_look() -> Iterator[None]:
    """Let all in the block see what is listed when it is first asked for; a block within another belongs to that."""
    token = _LOOK.set(_LOOK.get() or _Look())
    try:
        yield
    finally:
        _LOOK.reset(token)


def names(folder: Location) -> list[str]:
    """Return the names in ``folder``, sorted: as listed in this look, or else now."""
    look = _LOOK.get()
    if look is None or not isinstance(folder, ObjectPath):
        return files.names(folder)
    return sorted(look.versions(folder))


def read(path: Location) -> bytes | None:
    """Return the bytes of ``path``, or None where there is none: as listed in this look, or else now."""
    look = _LOOK.get()
    return files.read(path) if look is None or not isinstance(path, ObjectPath) else look.read(path)
