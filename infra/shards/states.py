"""Where each shard of a stage stands, as the files alone tell it: no run file is needed."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from infra.shards import files, lease, parquet
from infra.shards.entries import Entries, Entry
from infra.shards.manifest import SUFFIX
from infra.shards.ranges import ShardRange, cover
from infra.shards.store import StageStore

ShardState = Literal["committed", "stale", "running", "open", "missing", "damaged"]
MEANINGS: Mapping[ShardState, str] = {
    "committed": "finished",
    "stale": "finished, but by other settings than the latest shard, or of rows that have changed since",
    "running": "somebody works on it now",
    "open": "begun and not finished: its worker was killed, or it failed; the next run goes on with it",
    "missing": "not begun, or its files are gone",
    "damaged": "its entry in the manifest cannot be read",
}


@dataclass(frozen=True, slots=True)
class ShardLook:
    """One shard.

    Attributes:
        why: what there is to say of its state.
        entry: what the manifest says; None where it is not committed.
    """

    shard: ShardRange
    state: ShardState
    why: str = ""
    entry: Entry | None = None


def states_of(store: StageStore, manifest: Entries, above: Mapping[str, Entries]) -> list[ShardLook]:
    """Return every shard from row 0 to the last that was begun, in order. Only live leases are read.

    Args:
        store: the stage.
        manifest: its entries.
        above: table -> entries of the stage of the same data set that makes it: whose rows may have been read.

    Raises:
        LeaseCorrupt: a lease file cannot be read.
    """
    sizes = {table: files.sizes(folder) for table, folder in store.layout.tables.items()}
    hashes = {
        table: {entry.shard: entry.files[table].sha256 for entry in entries.entries if table in entry.files}
        for table, entries in above.items()
    }
    latest = max(manifest.entries, key=lambda entry: entry.created_at, default=None)
    looks = [_look(entry, latest, sizes, hashes) for entry in manifest.entries]
    for name, why in manifest.unreadable.items():
        looks.append(ShardLook(ShardRange.parse(name.removesuffix(SUFFIX)), "damaged", why))
    return sorted([*looks, *_unfinished(store, [look.shard for look in looks])], key=lambda look: look.shard)


def counts(looks: Sequence[ShardLook]) -> Mapping[ShardState, int]:
    """Return shards by state."""
    return Counter(look.state for look in looks)


def _look(
    entry: Entry,
    latest: Entry | None,
    sizes: Mapping[str, Mapping[str, int]],
    hashes: Mapping[str, Mapping[ShardRange, str]],
) -> ShardLook:
    for table, file in entry.files.items():
        name = f"{entry.shard.name}{parquet.SUFFIX}"
        size = sizes.get(table, {}).get(name)
        if size != file.bytes:
            fault = "is gone" if size is None else f"has {size:,} bytes, {file.bytes:,} were committed"
            return ShardLook(entry.shard, "missing", f"{table}/{name} {fault}", entry)
    for name, was in entry.input_hashes.items():
        now = hashes.get(name, {}).get(entry.shard)
        if now is not None and now != was:
            return ShardLook(entry.shard, "stale", f"its {name} were made again since", entry)
    if latest is not None and entry.spec_hash != latest.spec_hash:
        why = f"made by spec {entry.spec_hash[:12]}, the latest shard by {latest.spec_hash[:12]}"
        return ShardLook(entry.shard, "stale", why, entry)
    return ShardLook(entry.shard, "committed", "", entry)


def _unfinished(store: StageStore, known: Sequence[ShardRange]) -> list[ShardLook]:
    """Find what was begun, is worked on, or lies between shards that are there."""
    begun = store.layout.begun().difference(known)
    stop = max((shard.stop for shard in (*known, *begun)), default=0)
    leased = lease.live(store.layout.lease, overlapping=ShardRange(0, 2**62), but=frozenset(known))
    stop = max((stop, *(shard.stop for shard in leased)))
    if not stop:
        return []
    lengths = Counter(len(shard) for shard in (*known, *begun, *leased))
    (usual, _), *_ = lengths.most_common(1)
    found = []
    for shard in cover(ShardRange(0, stop), known, begun.union(leased), usual):
        holder = next((state for other, state in leased.items() if other.overlaps(shard)), None)
        if holder is not None:
            found.append(ShardLook(shard, "running", str(holder)))
        else:
            found.append(ShardLook(shard, "open" if shard in begun else "missing"))
    return found
