"""What can be mended in a stage's files: found first, shown, and done only when asked, each shard under its lease.

Nothing that could be worth something is deleted: it is moved into ``<data set>/aside/<moment>/``. What a live lease
covers is left alone, and so is whatever has changed since it was looked at.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from infra.shards import files, lease
from infra.shards.failures import FailureNotes
from infra.shards.frames import salvage, scan
from infra.shards.layout import JOURNAL_SUFFIX
from infra.shards.lease import LeaseCorrupt, LeaseHeld
from infra.shards.location import Location
from infra.shards.manifest import SUFFIX
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from infra.shards.verify import Finding, verify

FOLDER = "aside"
Deed = Literal[
    "set aside",  # move the file
    "set aside with its entry",  # also the manifest entry that names it: the shard is made again
    "set aside, keep what is whole",  # of a journal: its undamaged events stay
    "cut the tail",
    "clear away",  # archive the journal of a finished shard, remove what a dead worker was writing
    "release",  # a lease that nobody holds any more
    "delete",  # a note that says nothing any more
    "by hand",
]
Outcome = Literal["done", "held", "changed", "by hand"]


@dataclass(frozen=True, slots=True)
class Repair:
    """One thing that is wrong, and what would be done about it.

    Attributes:
        kind: what is wrong, as ``verify`` names it, or one of the kinds of leases and notes.
        shard: whose lease it takes to mend it; None where it is no shard's.
        path: the file.
        deed: what would be done.
        why: what was found.
        stamp: of the file, when it was looked at; empty where there is none.
        entry: the same of the shard's manifest entry.
    """

    kind: str
    shard: ShardRange | None
    path: Location
    deed: Deed
    why: str
    stamp: str
    entry: str


_DEEDS: dict[str, Deed] = {
    "manifest_corrupt": "set aside",
    "file_missing": "set aside with its entry",
    "content_differs": "set aside with its entry",
    "rows_differ": "set aside with its entry",
    "schema_differs": "by hand",  # another version of the stage: the plan calls it stale
    "ids_repeat": "by hand",
    "journal_corrupt": "set aside, keep what is whole",
    "journal_torn": "cut the tail",
    "journal_open": "clear away",
    "orphan": "set aside",
    "temporary": "clear away",
    "stranger": "by hand",
}


# What is cut or salvaged comes before what is archived of it.
_FIRST: tuple[Deed, ...] = ("set aside, keep what is whole", "cut the tail", "set aside with its entry")


def find_repairs(store: StageStore) -> list[Repair]:
    """Read everything again and say what would be done about what is wrong; changes nothing.

    Where a lease cannot be read, that is all that is found: who works on what is not known before it is mended.
    """
    if broken := list(_broken_leases(store)):
        return broken
    found = [_of_finding(store, finding) for finding in verify(store)]
    found.sort(key=lambda repair: _FIRST.index(repair.deed) if repair.deed in _FIRST else len(_FIRST))
    return [*found, *_old_leases(store), *_old_notes(store)]


def mend(store: StageStore, repairs: Sequence[Repair], moment: datetime) -> Iterator[tuple[Repair, Outcome]]:
    """Do what was found, and yield what became of each.

    Args:
        store: the stage.
        repairs: of ``find_repairs``.
        moment: names the folder of what is set aside.
    """
    aside = store.layout.manifest.parent.parent / FOLDER / moment.strftime("%Y%m%dT%H%M%S")
    for repair in repairs:
        if repair.deed == "by hand" or repair.shard is None:
            yield repair, "by hand"
        elif repair.kind == "lease_corrupt":  # nobody can take it, so nobody is asked
            yield repair, _set_aside_lease(repair, aside)
        else:
            yield repair, _under_lease(store, repair, repair.shard, aside)


def _set_aside_lease(repair: Repair, aside: Location) -> Outcome:
    if _stamp(repair.path) != repair.stamp:
        return "changed"
    _set_aside(aside, repair.path)
    return "done"


def _under_lease(store: StageStore, repair: Repair, shard: ShardRange, aside: Location) -> Outcome:
    if repair.deed == "release" and _stamp(repair.path) != repair.stamp:
        return "changed"
    try:
        held = store.acquire(shard)
    except LeaseHeld:
        return "held"
    with held:  # taken over, and given back at the end of the block: which is all that an old lease needs
        if repair.deed == "clear away":
            store.clear(shard, held)
        elif repair.deed != "release":
            if _stamp(repair.path) != repair.stamp or _stamp(store.manifest.path(shard)) not in ("", repair.entry):
                return "changed"
            _do(store, repair, shard, aside)
    return "done"


def _do(store: StageStore, repair: Repair, shard: ShardRange, aside: Location) -> None:
    match repair.deed:
        case "set aside with its entry":
            _set_aside(aside, store.manifest.path(shard))  # first: from here on nothing names the file
            _set_aside(aside, repair.path)
        case "set aside, keep what is whole":
            data = files.read(repair.path) or b""
            _copy(aside, repair.path, data)
            kept = salvage(data) if repair.path.suffix == JOURNAL_SUFFIX else b""  # not of an archive: it is packed
            if kept:
                files.put(repair.path, kept)
            else:
                files.delete(repair.path)
        case "cut the tail":
            data = files.read(repair.path) or b""
            _copy(aside, repair.path, data)
            files.put(repair.path, data[: scan(data, repair.path).end])
        case "delete":
            files.delete(repair.path)
        case _:
            _set_aside(aside, repair.path)


def _set_aside(aside: Location, path: Location) -> None:
    if (data := files.read(path)) is not None:
        _copy(aside, path, data)
        files.delete(path)


def _copy(aside: Location, path: Location, data: bytes) -> None:
    files.put(aside / path.parent.parent.name / path.parent.name / path.name, data)


def _of_finding(store: StageStore, finding: Finding) -> Repair:
    shard = _shard_of(finding.path)
    deed: Deed = _DEEDS[finding.kind] if shard is not None else "by hand"
    return _repair(store, finding.kind, shard, finding.path, deed, finding.detail)


def _shard_of(path: Location) -> ShardRange | None:
    """Return the shard whose file this is; in an object store a journal is a folder of segments."""
    for name in (path.name, path.parent.name):
        if (shard := ShardRange.of_file(name.removeprefix(".").partition(".")[0], "")) is not None:
            return shard
    return None


def _broken_leases(store: StageStore) -> Iterator[Repair]:
    for shard, path in _leases(store):
        try:
            lease.current(store.layout.lease, shard)
        except LeaseCorrupt as error:
            yield _repair(store, "lease_corrupt", shard, path, "set aside", str(error))


def _old_leases(store: StageStore) -> Iterator[Repair]:
    for shard, path in _leases(store):
        state = lease.current(store.layout.lease, shard)
        if state is not None and state.is_free() and not state.released:
            until = state.until.isoformat(timespec="seconds")
            why = f"{state.owner} has not given it back; nobody need wait for it since {until}"
            yield _repair(store, "lease_old", shard, path, "release", why)


def _old_notes(store: StageStore) -> Iterator[Repair]:
    notes = FailureNotes(store.layout)
    committed = set(store.manifest.shards())
    for shard, note in notes.all().items():
        if shard in committed:
            why = f"its shard is finished; it said: {note}"
            yield _repair(store, "note_old", shard, notes.path(shard), "delete", why)


def _leases(store: StageStore) -> list[tuple[ShardRange, Location]]:
    """Return the lease in force of each shard that ever had one."""
    highest: dict[ShardRange, tuple[int, Location]] = {}
    for name in files.names(store.layout.lease):
        stem, _, token = name.removesuffix(SUFFIX).rpartition(".")
        shard = ShardRange.of_file(stem, "")
        if shard is not None and name.endswith(SUFFIX) and token.isdecimal():
            highest[shard] = max(highest.get(shard, (0, store.layout.lease)), (int(token), store.layout.lease / name))
    return [(shard, path) for shard, (_, path) in sorted(highest.items())]


def _repair(store: StageStore, kind: str, shard: ShardRange | None, path: Location, deed: Deed, why: str) -> Repair:
    entry = "" if shard is None else _stamp(store.manifest.path(shard))
    return Repair(kind, shard, path, deed, why, _stamp(path), entry)


def _stamp(path: Location) -> str:
    return files.stamps(path.parent).get(path.name, "")
