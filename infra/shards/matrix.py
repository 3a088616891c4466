"""Where every shard of every stage stands: one stage a row, one shard a column. What shows it is elsewhere."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal, get_args

from infra.shards import files
from infra.shards.entries import Entries, Entry
from infra.shards.failures import FailureNotes
from infra.shards.look import one_look
from infra.shards.manifest import SUFFIX, ManifestCorrupt, ShardRecord
from infra.shards.plan import Plan
from infra.shards.ranges import ShardRange
from infra.shards.states import states_of
from infra.shards.store import StageStore

CellState = Literal["damaged", "failed", "running", "open", "missing", "stale", "committed"]  # the gravest first
GRAVEST: tuple[CellState, ...] = get_args(CellState)
MEANINGS: Mapping[CellState, str] = {
    "damaged": "its entry in the manifest cannot be read",
    "failed": "its last attempt failed",
    "running": "somebody works on it now",
    "open": "begun and not finished",
    "missing": "not begun, or its files are gone",
    "stale": "finished, by other settings or of rows that have changed since",
    "committed": "finished",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """One shard of a stage.

    Attributes:
        why: what there is to say of its state.
        kept: rows in the stage's first table; 0 where it is not committed, likewise the other counts.
        filtered: rows that were no record of anybody.
        quarantined: rows that could not be finished.
    """

    shard: ShardRange
    state: CellState
    why: str = ""
    kept: int = 0
    filtered: int = 0
    quarantined: int = 0


@dataclass(frozen=True, slots=True)
class MatrixRow:
    """The shards of a stage, in order."""

    stage: str
    cells: tuple[Cell, ...]

    def counts(self) -> Mapping[CellState, int]:
        """Return shards by state."""
        return Counter(cell.state for cell in self.cells)

    @property
    def kept(self) -> int:
        """Rows kept."""
        return sum(cell.kept for cell in self.cells)

    @property
    def filtered(self) -> int:
        """Rows filtered."""
        return sum(cell.filtered for cell in self.cells)

    @property
    def quarantined(self) -> int:
        """Rows in quarantine."""
        return sum(cell.quarantined for cell in self.cells)

    def stretches(self) -> Iterator[tuple[CellState, str, list[Cell]]]:
        """Yield neighbours of one state and reason together, those that are not committed."""
        for (state, why), cells in groupby(self.cells, key=lambda cell: (cell.state, cell.why)):
            if state != "committed":
                yield state, why, list(cells)


@dataclass(frozen=True, slots=True)
class Looked:
    """A stage that is looked at.

    Attributes:
        store: its shards.
        name: what it is called: its own name, or that of an evaluation.
        source: the table each of whose shards has its shard here; None for a stage that cuts its rows itself.
        plan: how shards stand by a run's settings; without one, the latest shard tells what is stale.
    """

    store: StageStore
    name: str
    source: str | None = None
    plan: Plan | None = None


@one_look()
def matrix(stages: Sequence[Looked]) -> tuple[MatrixRow, ...]:
    """Look at the stages of one data set; reads manifests, names and sizes, and the leases of unfinished shards.

    Raises:
        LeaseCorrupt: a lease file cannot be read.
    """
    read = [_read(stage.store) for stage in stages]
    made = {
        table: _entries(records)
        for stage, records in zip(stages, read, strict=True)
        for table in stage.store.tables
        if len(stage.store.tables) > 1 or table == stage.name  # an evaluation's table is read by no stage
    }
    return tuple(_row(stage, records, made) for stage, records in zip(stages, read, strict=True))


Records = Mapping[ShardRange, ShardRecord | ManifestCorrupt]


def _row(stage: Looked, records: Records, made: Mapping[str, Entries]) -> MatrixRow:
    store = stage.store
    if stage.plan is not None:
        cells = _planned(stage.plan)
    else:
        cells = [Cell(look.shard, look.state, look.why) for look in states_of(store, _entries(records), made)]
        sources = made[stage.source].entries if stage.source is not None and stage.source in made else ()
        stop = cells[-1].shard.stop if cells else 0
        # Behind the last that was begun, what the stage above has finished is to be made.
        cells += [Cell(entry.shard, "missing") for entry in sources if entry.shard.start >= stop]
    failed = FailureNotes(store.layout).all(but={cell.shard for cell in cells if cell.state == "committed"})
    noted = (_noted(cell, failed) for cell in cells)
    return MatrixRow(stage.name, tuple(_filled(cell, store, records.get(cell.shard)) for cell in noted))


def _read(store: StageStore) -> dict[ShardRange, ShardRecord | ManifestCorrupt]:
    def read(shard: ShardRange) -> ShardRecord | ManifestCorrupt | None:
        try:
            return store.manifest.record(shard)
        except KeyError:  # gone since it was listed
            return None
        except ManifestCorrupt as error:
            return error

    names = files.names(store.manifest.directory)
    shards = sorted(shard for name in names if (shard := ShardRange.of_file(name, SUFFIX)))
    found = zip(shards, files.mapped(read, shards, store.manifest.directory), strict=True)
    return {shard: record for shard, record in found if record is not None}


def _entries(records: Mapping[ShardRange, ShardRecord | ManifestCorrupt]) -> Entries:
    good: list[Entry] = []
    bad: dict[str, str] = {}
    for shard, record in records.items():
        if isinstance(record, ManifestCorrupt):
            bad[f"{shard.name}{SUFFIX}"] = str(record)
        elif good and good[-1].shard.overlaps(shard):
            bad[f"{shard.name}{SUFFIX}"] = f"claims rows of {good[-1].shard.name}: one of the two entries is wrong"
        else:
            good.append(_entry(record))
    return Entries(tuple(good), bad)


def _entry(record: ShardRecord) -> Entry:
    summary = record.summary
    return Entry(
        shard=record.shard,
        spec_hash=record.spec_hash,
        input_hashes=record.input_hashes,
        files=record.files,
        reasons=summary.reasons,
        tokens=summary.tokens,
        calls=summary.calls,
        cost_usd=summary.cost_usd,
        created_at=record.created_at,
    )


def _planned(plan: Plan) -> list[Cell]:
    return [Cell(each.shard, "running" if each.state == "held" else each.state, each.reason) for each in plan.shards]


def _noted(cell: Cell, failed: Mapping[ShardRange, object]) -> Cell:
    note = failed.get(cell.shard)
    if note is None or cell.state not in ("open", "missing", "stale"):
        return cell
    return replace(cell, state="failed", why=str(note))


def _filled(cell: Cell, store: StageStore, record: ShardRecord | ManifestCorrupt | None) -> Cell:
    if not isinstance(record, ShardRecord):
        return cell
    kept, *rest = store.tables
    rows = {table: file.rows for table, file in record.files.items()}
    rejected = sum(rows.get(table, 0) for table in rest)
    filtered = record.summary.notes.get("filtered", 0)
    filtered = min(filtered, rejected) if isinstance(filtered, int) else 0
    return replace(cell, kept=rows.get(kept, 0), filtered=filtered, quarantined=rejected - filtered)


def named(cells: Sequence[Cell]) -> str:
    """Name a shard, or neighbouring ones by the rows they hold and how many there are."""
    first, last = cells[0].shard, cells[-1].shard
    return first.name if len(cells) == 1 else f"rows {first.start:,} to {last.stop:,}, {len(cells):,} shards"
