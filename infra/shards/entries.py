"""The entries of a manifest, kept small and read again only where they have changed: for whoever looks often."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from threading import Lock

from infra.llm.types import Usage
from infra.shards import files
from infra.shards.location import Location
from infra.shards.manifest import SUFFIX, FileRecord, Manifest, ManifestCorrupt
from infra.shards.ranges import ShardRange


@dataclass(frozen=True, slots=True)
class Entry:
    """What a manifest says of a committed shard, without the notes of its stage, which can be large."""

    shard: ShardRange
    spec_hash: str
    input_hashes: Mapping[str, str]
    files: Mapping[str, FileRecord]
    reasons: Mapping[str, int]
    tokens: Usage
    calls: int
    cost_usd: float
    created_at: datetime

    def rows(self, table: str) -> int:
        """Return the rows that ``table`` has of this shard; 0 where it has no file."""
        return self.files[table].rows if table in self.files else 0


@dataclass(frozen=True, slots=True)
class Entries:
    """All entries in order of their rows, and what is wrong with those that cannot be read.

    Attributes:
        unreadable: file name -> what is wrong and what to do.
    """

    entries: tuple[Entry, ...]
    unreadable: Mapping[str, str]

    def rows(self, table: str) -> int:
        """Return the rows of ``table``."""
        return sum(entry.rows(table) for entry in self.entries)

    @property
    def bytes(self) -> int:
        """Bytes of all data files."""
        return sum(file.bytes for entry in self.entries for file in entry.files.values())

    @property
    def reasons(self) -> Mapping[str, int]:
        """How many rows were not kept, by reason, the most frequent first."""
        counts: Counter[str] = Counter()
        for entry in self.entries:
            counts.update(entry.reasons)
        return dict(counts.most_common())


@dataclass
class WatchedManifest:
    """Reads a manifest; a file that is as it was is not read again. Threads may share it."""

    directory: Location
    _known: dict[str, tuple[str, Entry | str]] = field(default_factory=dict)  # file name -> its stamp, its entry
    _latest: Entries = Entries((), {})
    _lock: Lock = field(default_factory=Lock)

    def entries(self) -> Entries:
        """Return what there is now; an entry that cannot be read does not hide the others."""
        with self._lock:
            stamps = files.stamps(self.directory)
            found = {name: stamp for name, stamp in stamps.items() if ShardRange.of_file(name, SUFFIX)}
            changed = [name for name, stamp in found.items() if self._stamp_of(name) != stamp]
            if not changed and found.keys() == self._known.keys():
                return self._latest
            for name in self._known.keys() - found.keys():
                del self._known[name]
            read = files.mapped(partial(_read, self.directory), changed, self.directory)
            for name, entry in zip(changed, read, strict=True):
                if entry is not None:
                    self._known[name] = (found[name], entry)
            self._latest = self._put_together()
            return self._latest

    def _stamp_of(self, name: str) -> str | None:
        known = self._known.get(name)
        return known[0] if known else None

    def _put_together(self) -> Entries:
        good: list[Entry] = []
        bad: dict[str, str] = {}
        for name, (_, entry) in self._known.items():
            if isinstance(entry, Entry):
                good.append(entry)
            else:
                bad[name] = entry
        apart: list[Entry] = []
        for entry in sorted(good, key=lambda each: each.shard):
            if apart and apart[-1].shard.overlaps(entry.shard):
                bad[f"{entry.shard.name}{SUFFIX}"] = (
                    f"claims row {entry.shard.start} as {apart[-1].shard.name} does:"
                    " delete the entry that is not wanted and its data files"
                )
                continue
            apart.append(entry)
        return Entries(tuple(apart), bad)


def _read(directory: Location, name: str) -> Entry | str | None:
    """Return an entry, what is wrong with it, or None where it has just been removed."""
    shard = ShardRange.parse(name.removesuffix(SUFFIX))
    try:
        record = Manifest(directory).record(shard)
    except KeyError:
        return None
    except ManifestCorrupt as error:
        return str(error)
    summary = record.summary
    return Entry(
        shard=shard,
        spec_hash=record.spec_hash,
        input_hashes=record.input_hashes,
        files=record.files,
        reasons=summary.reasons,
        tokens=summary.tokens,
        calls=summary.calls,
        cost_usd=summary.cost_usd,
        created_at=record.created_at,
    )
