"""What is to be done: wanted rows minus committed shards."""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from infra.shards import files, lease, parquet
from infra.shards.look import one_look
from infra.shards.manifest import ShardRecord
from infra.shards.ranges import ShardRange, cover
from infra.shards.store import StageStore

State = Literal["committed", "stale", "open", "missing", "held"]
Reprocess = Literal["missing", "missing_and_failed", "stale", "all"]
InputHashes = Callable[[ShardRange], Mapping[str, str]]

# Each choice redoes what the one before it does, and more. Within a plan, begun shards come first: they have paid.
REDONE: Mapping[Reprocess, tuple[State, ...]] = {
    "missing": ("missing",),
    "missing_and_failed": ("open", "missing"),
    "stale": ("open", "missing", "stale"),
    "all": ("open", "missing", "stale", "committed"),
}


@dataclass(frozen=True, slots=True)
class PlannedShard:
    """One shard and where it stands.

    Attributes:
        shard: its rows.
        state: ``committed`` (done), ``stale`` (done, from another spec or input), ``open`` (begun, not done: killed or
            failed), ``missing`` (not begun, or its data are gone), ``held`` (to be done, another worker has it).
        reason: why it is stale, missing or held; empty where the state says all.
    """

    shard: ShardRange
    state: State
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Every shard of the wanted rows in their order, and those to be done in the order of doing."""

    shards: tuple[PlannedShard, ...]
    todo: tuple[ShardRange, ...]

    def counts(self) -> Mapping[State, int]:
        """Return the number of shards by state."""
        return Counter(planned.state for planned in self.shards)

    def only(self, names: Sequence[str] | None) -> "Plan":
        """Return the plan with those of its todo that are named, in the order of ``names``; None names all."""
        if names is None:
            return self
        wanted = {shard.name: shard for shard in self.todo}
        return replace(self, todo=tuple(wanted[name] for name in names if name in wanted))


def no_inputs(shard: ShardRange) -> Mapping[str, str]:
    """Return the input hashes of a stage that makes its rows from nothing."""
    return {}


@one_look()
def plan(
    store: StageStore,
    wanted: ShardRange,
    size: int,
    spec_hash: str,
    input_hashes: InputHashes = no_inputs,
    reprocess: Reprocess = "missing_and_failed",
) -> Plan:
    """Decide what is to be done so that the rows of ``wanted`` are there; reads only.

    Args:
        store: where they shall be.
        wanted: the rows. A committed shard that reaches out of them counts as a whole.
        size: rows of a shard that was not begun yet.
        spec_hash: of all that shapes the rows now.
        input_hashes: what each shard would read now, name -> content hash.
        reprocess: what to do again: only what was never begun (``missing``), also what was begun and not finished
            (``missing_and_failed``: to resume), also what is ``stale``, or ``all``.

    Raises:
        ManifestCorrupt: an entry of the manifest cannot be read.
        ValueError: ``size`` is below 1.
    """
    records = store.manifest.records(wanted)
    begun = store.layout.begun()
    cut = cover(wanted, records, begun, size)
    return _planned(store, wanted, list(records.values()), cut, begun, spec_hash, input_hashes, reprocess)


@one_look()
def plan_over(
    store: StageStore,
    sources: Sequence[ShardRange],
    spec_hash: str,
    input_hashes: InputHashes,
    reprocess: Reprocess = "missing_and_failed",
) -> Plan:
    """Decide as ``plan`` does what is to be done so that each shard of another stage has its own shard here.

    Args:
        store: where they shall be.
        sources: the finished shards of the stage that is read, in order.
        spec_hash: of all that shapes the rows now.
        input_hashes: what each shard would read now, name -> content hash.
        reprocess: what to do again.

    Raises:
        ManifestCorrupt: an entry of the manifest cannot be read.
    """
    if not sources:
        return Plan((), ())
    wanted = ShardRange(sources[0].start, sources[-1].stop)
    records, begun = store.manifest.records(wanted), store.layout.begun()
    done, opened = list(records), sorted(begun)
    cut: list[ShardRange] = []
    used: set[ShardRange] = set()
    for source in sources:
        there = _overlapping(done, source)
        used.update(there)
        # Cut at multiples of its own end, a shard stays in one piece.
        cut += cover(source, there, _overlapping(opened, source), source.stop)
    kept = [record for shard, record in records.items() if shard in used]
    return _planned(store, wanted, kept, cut, begun, spec_hash, input_hashes, reprocess)


def _overlapping(shards: Sequence[ShardRange], source: ShardRange) -> list[ShardRange]:
    """Return those of sorted ``shards`` that have rows of ``source``; a few begun ones may overlap each other."""
    stop = bisect_left(shards, source.stop, key=lambda shard: shard.start)
    start = bisect_right(shards, source.start, key=lambda shard: shard.start)
    while start and shards[start - 1].stop > source.start:
        start -= 1
    return [shard for shard in shards[start:stop] if shard.overlaps(source)]


def _planned(
    store: StageStore,
    wanted: ShardRange,
    records: Sequence[ShardRecord],
    cut: Sequence[ShardRange],
    begun: Container[ShardRange],
    spec_hash: str,
    input_hashes: InputHashes,
    reprocess: Reprocess,
) -> Plan:
    """Put together what is there and what is cut out of the rest."""
    inputs = files.mapped(input_hashes, [record.shard for record in records], store.layout.manifest)
    sizes = {table: files.sizes(folder) for table, folder in store.layout.tables.items()}
    found = [_judge(record, sizes, spec_hash, now) for record, now in zip(records, inputs, strict=True)]
    found += [PlannedShard(shard, "open" if shard in begun else "missing") for shard in cut]
    found = _mark_held(store, wanted, sorted(found, key=lambda planned: planned.shard), REDONE[reprocess])
    todo = [planned.shard for state in REDONE[reprocess] for planned in found if planned.state == state]
    return Plan(tuple(found), tuple(todo))


def _judge(
    record: ShardRecord, sizes: Mapping[str, Mapping[str, int]], spec_hash: str, inputs: Mapping[str, str]
) -> PlannedShard:
    """Say whether a shard of the manifest is still there and still current."""
    if record.files.keys() != sizes.keys():
        return PlannedShard(record.shard, "stale", f"has tables {sorted(record.files)}, now {sorted(sizes)}")
    for table, file in record.files.items():
        name = f"{record.shard.name}{parquet.SUFFIX}"
        size = sizes[table].get(name)
        if size != file.bytes:
            fault = "is gone" if size is None else f"has {size} bytes, {file.bytes} were committed"
            return PlannedShard(record.shard, "missing", f"{table}/{name} {fault}")
    if record.spec_hash != spec_hash:
        return PlannedShard(record.shard, "stale", f"made by spec {record.spec_hash[:12]}, now {spec_hash[:12]}")
    for name in sorted(record.input_hashes.keys() | inputs.keys()):
        if record.input_hashes.get(name) != inputs.get(name):
            return PlannedShard(record.shard, "stale", f"input {name} has changed")
    return PlannedShard(record.shard, "committed")


def _mark_held(
    store: StageStore, wanted: ShardRange, shards: list[PlannedShard], redone: tuple[State, ...]
) -> list[PlannedShard]:
    """Set those aside that others work on, in whole or in part; leases of shards that stay so do not matter."""
    done = {planned.shard for planned in shards if planned.state not in (*redone, "open")}
    held = lease.live(store.layout.lease, overlapping=wanted, but=done)

    def mark(planned: PlannedShard) -> PlannedShard:
        holder = next((state for shard, state in held.items() if shard.overlaps(planned.shard)), None)
        if holder is None or planned.shard in done:
            return planned
        return PlannedShard(planned.shard, "held", str(holder))

    return [mark(planned) for planned in shards] if held else shards
