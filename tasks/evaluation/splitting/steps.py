"""Splitting at its edge: a shard of splits beside each shard of triplets, stale exactly when what it read changes."""

from collections.abc import Callable, Mapping

import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from infra.shards.location import Location
from infra.shards.manifest import ShardSummary
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import StageStore
from tasks.evaluation.splits import Split
from tasks.evaluation.splitting.assign import SplitConfig, assign, person_of, place_of
from tasks.records import SPLITS
from tasks.sanitization.steps import triplets_store
from tasks.synthesis.steps import records_store

STAGE = "splits"
STAGE_VERSION = 2
TABLES = {"splits": SPLITS}

FullSuccess = Mapping[str, bool | None]
"""Record id -> whether the pipeline reached a full success; None where that could not be judged."""


class SplitJob(BaseModel):
    """All that decides the splits of a data set, but its triplets and their evaluation."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    root: Location
    dataset: str
    config: SplitConfig

    def store(self) -> StageStore:
        """Return where the splits go."""
        return splits_store(self.root, self.dataset)

    def spec_hash(self) -> str:
        """Fingerprint the settings."""
        return spec_hash(self.config, {"schema": str(SPLITS), "stage_version": STAGE_VERSION})


def splits_store(root: Location, dataset: str) -> StageStore:
    """Return the store of a data set's splits."""
    return StageStore(root, dataset, STAGE, TABLES, id_column="record_id")


def read_splits(root: Location, dataset: str) -> Mapping[str, Split] | None:
    """Return record id -> split of every triplet that was split, or None where the data set never was.

    Raises:
        ManifestCorrupt: the manifest of the splits cannot be read.
        SchemaMismatch, TableDamaged: a file is not as it was committed.
    """
    store = splits_store(root, dataset)
    if not store.manifest.shards():
        return None
    rows = store.read("splits", ["record_id", "split"])
    return dict(zip(rows["record_id"].to_pylist(), rows["split"].to_pylist(), strict=True))


class SplitsOld(ValueError):
    """Triplets were made after the last split; the message says what to do."""


def check_current(triplets: StageStore, splits: StageStore) -> None:
    """Refuse splits of other triplets than there are now: what is new would be left out without a word.

    Raises:
        SplitsOld: there are such.
    """
    split = set(splits.manifest.shards())
    for shard in triplets.manifest.shards():
        now = triplets.manifest.record(shard).files["triplets"].sha256
        if shard not in split or splits.manifest.record(shard).input_hashes["triplets"] != now:
            raise SplitsOld(f"{shard.name}: its triplets were made after the last split: `privasis split` again")


def input_hashes(job: SplitJob, evaluations: StageStore | None, shard: ShardRange) -> Mapping[str, str]:
    """Return what the splits of ``shard`` read: name -> content hash.

    Raises:
        KeyError: the shard of records or of triplets is not committed.
    """
    found = {
        "records": records_store(job.root, job.dataset).manifest.record(shard).files["records"].sha256,
        "triplets": triplets_store(job.root, job.dataset).manifest.record(shard).files["triplets"].sha256,
    }
    if evaluations is not None and shard in evaluations.manifest.shards():
        found["evaluations"] = evaluations.manifest.record(shard).files["evaluations"].sha256
    return found


def make_splits(
    job: SplitJob, evaluations: StageStore | None, shard: ShardRange, judged: Callable[[pa.Table], FullSuccess]
) -> None:
    """Decide the split of every triplet of ``shard`` and commit it.

    Args:
        job: the settings.
        evaluations: of the pipeline's own texts, where there are any.
        shard: of triplets.
        judged: reads who succeeded out of the rows of an evaluation.

    Raises:
        KeyError: the shard of records or of triplets is not committed.
        LeaseHeld: another process is at it.
    """
    store = job.store()
    with store.acquire(shard) as lease:
        inputs = input_hashes(job, evaluations, shard)
        triplets = triplets_store(job.root, job.dataset).read_shard(
            "triplets", shard, ["record_id", "index", "verified"]
        )
        records = records_store(job.root, job.dataset).read_shard("records", shard, ["record_id", "profile"])
        success = (
            judged(evaluations.read_shard("evaluations", shard)) if evaluations and "evaluations" in inputs else {}
        )
        people = {
            row["record_id"]: person_of(row["profile"]["first_name"], row["profile"]["last_name"])
            for row in records.to_pylist()
        }
        rows = []
        for triplet in triplets.to_pylist():
            person = people[triplet["record_id"]]
            place = place_of(person, job.config.seed)
            found = assign(
                place, job.config, verified=triplet["verified"], full_success=success.get(triplet["record_id"])
            )
            rows.append(
                {
                    "record_id": triplet["record_id"],
                    "index": triplet["index"],
                    "split": found.split,
                    "reason": found.reason,
                    "person": person,
                    "place": place,
                }
            )
        store.commit(
            shard,
            {"splits": pa.Table.from_pylist(rows, SPLITS)},
            lease,
            len(rows),
            spec_hash=job.spec_hash(),
            input_hashes=inputs,
            summary=ShardSummary(),
        )
