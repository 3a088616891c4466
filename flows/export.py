"""From triplets to a folder that `datasets` loads and the hub takes: chats in Parquet files, and a data card."""

import re
import shutil
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from infra.llm.types import Usage
from infra.shards.location import Location
from infra.shards.manifest import ShardRecord
from infra.shards.store import StageStore
from tasks.evaluation.splits import Split
from tasks.evaluation.splitting.steps import check_current, read_splits, splits_store
from tasks.export.card import data_card
from tasks.export.facts import Facts, Tally
from tasks.export.rows import CHATS, COLUMNS, chats
from tasks.sanitization.steps import triplets_store
from tasks.synthesis.steps import records_store

CARD, DATA = "README.md", "data"
_PART = re.compile(r"[a-z]+-\d{5,}\.parquet")
ROWS_A_FILE = 50_000


@dataclass(frozen=True, slots=True)
class Exported:
    """What was written, and where."""

    folder: Path
    facts: Facts


def export(root: Location, dataset: str, folder: Path) -> Exported:
    """Write the finished triplets of a data set to ``folder``, over what an earlier export has left there.

    The folder appears whole: until all is written, its content lies beside it.

    Raises:
        ValueError: there are no finished triplets, all of them are left out, or some were made after the last split.
        FileExistsError: ``folder`` holds something else than an export.
    """
    triplets = triplets_store(root, dataset)
    if not triplets.manifest.shards():
        raise ValueError(f"{root / dataset}: no finished triplets to export: `privasis sanitize` first")
    _check_is_ours(folder)
    splits = read_splits(root, dataset)
    if splits is not None:
        check_current(triplets, splits_store(root, dataset))
    draft = folder.with_name(f".{folder.name}.draft")
    shutil.rmtree(draft, ignore_errors=True)
    tally = Tally(splits)
    with Parts(draft / DATA) as parts:
        for shard in triplets.manifest.shards():
            rows = triplets.read_shard("triplets", shard, list(COLUMNS))
            for row in rows.to_pylist():
                tally.add(row)
            for split, table in chats(rows, tally.splits).items():
                parts.write(split, table)
    facts = facts_of(dataset, triplets, records_store(root, dataset), tally)
    if not facts.triplets:
        raise ValueError(f"{root / dataset}: nothing to export: {facts.unverified:,} triplets are not verified")
    (draft / CARD).write_text(data_card(facts), encoding="utf-8")
    shutil.rmtree(folder, ignore_errors=True)
    draft.rename(folder)
    return Exported(folder, facts)


def _check_is_ours(folder: Path) -> None:
    """Refuse a folder with anything in it that an export does not write: it is removed before the new one comes."""
    if not folder.exists():
        return
    if not folder.is_dir():
        raise FileExistsError(f"{folder}: is a file; name another folder")
    data = folder / DATA
    written = {folder / CARD, data, *(path for path in data.glob("*.parquet") if _PART.fullmatch(path.name))}
    if other := next((path for path in folder.rglob("*") if path not in written), None):
        raise FileExistsError(f"{other}: no export has written this; name another folder than {folder}")


class Parts:
    """The Parquet files of every split, each begun anew after ``ROWS_A_FILE`` rows."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[Split, pq.ParquetWriter] = {}
        self._files: Counter[Split] = Counter()
        self._rows: Counter[Split] = Counter()
        self._stack = ExitStack()

    def __enter__(self) -> "Parts":
        self._folder.mkdir(parents=True)
        return self

    def __exit__(self, *exc: object) -> None:
        self._stack.close()

    def write(self, split: Split, table: pa.Table) -> None:
        """Add rows to a split."""
        if split not in self._open or self._rows[split] >= ROWS_A_FILE:
            path = self._folder / f"{split}-{self._files[split]:05d}.parquet"
            self._open[split] = self._stack.enter_context(pq.ParquetWriter(path, CHATS, compression="zstd"))
            self._files[split] += 1
            self._rows[split] = 0
        self._open[split].write_table(table)
        self._rows[split] += table.num_rows


def facts_of(dataset: str, triplets: StageStore, records: StageStore, tally: Tally) -> Facts:
    """Collect what the card says, from what was counted and from the two manifests."""
    made = list(triplets.manifest.records().values())
    rejected: Counter[str] = Counter()
    for entry in made:
        rejected.update(entry.summary.reasons)
    tokens = sum((entry.summary.tokens for entry in made), Usage())
    return Facts(
        name=dataset,
        is_split=tally.splits is not None,
        splits=tally.statistics(),
        unverified=tally.unverified,
        left_out=tally.left_out,
        rejected=rejected,
        writers=_counted(records, "records", "model"),
        sanitizers=tally.sanitizers,
        languages=tally.languages,
        labels=tally.labels,
        groups=tally.groups,
        targets=tally.labels.total(),
        calls=sum(entry.summary.calls for entry in made),
        tokens=tokens.prompt + tokens.completion,
        cost_usd=sum(entry.summary.cost_usd for entry in made),
        seeds=tuple(sorted(_counted(triplets, "triplets", "seed"))),
        versions=_newest(made).summary.versions,
        newest=_newest(made).created_at.isoformat(),
    )


def _newest(made: list[ShardRecord]) -> ShardRecord:
    return max(made, key=lambda entry: entry.created_at)


def _counted(store: StageStore, table: str, column: str) -> Mapping[str, int]:
    counts: Counter[str] = Counter()
    for shard in store.manifest.shards():
        counts.update(map(str, store.read_shard(table, shard, [column])[column].to_pylist()))
    return counts
