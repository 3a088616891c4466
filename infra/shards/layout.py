"""Where a stage keeps what, under ``<root>/<dataset>``."""

import hashlib
import re
from collections.abc import Iterable, Iterator

from infra.shards import files, manifest, parquet
from infra.shards.journal import ARCHIVE_SUFFIX
from infra.shards.location import Location, ObjectPath, location
from infra.shards.ranges import ShardRange

JOURNAL_SUFFIX = ".journal"

LEDGER_SUFFIX = ".json"

_RESERVED = {"manifest", "journal", "lease", "batches", "failed", "aside"}
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class Layout:
    """The folders of one stage of one data set, and the shards whose files are in them.

    Attributes:
        tables: table -> folder of its data files.
        manifest: what is done.
        journal: what was paid for.
        lease: who works on what.
        batches: what is under way with batches of a provider.
    """

    def __init__(self, root: Location, dataset: str, stage: str, tables: Iterable[str]) -> None:
        """Name the folders; nothing is read or written.

        Raises:
            ValueError: a name could leave the root, or a table's folder is the store's own.
        """
        tables = list(tables)
        for name in (dataset, stage, *tables):
            if not _NAME.fullmatch(name):
                raise ValueError(
                    f"{name!r}: use letters, digits, dots, dashes and underscores, a letter or digit first"
                )
        if taken := _RESERVED.intersection(tables):
            raise ValueError(f"table {taken.pop()!r}: this folder is the store's own, choose another name")
        home = location(root) / dataset
        self.tables = {table: home / table for table in tables}
        self.manifest = home / "manifest" / stage
        self.journal = home / "journal" / stage
        self.lease = home / "lease" / stage
        self.batches = home / "batches" / stage

    def data_file(self, table: str, shard: ShardRange) -> Location:
        """Return the data file of ``shard`` in ``table``."""
        return self.tables[table] / f"{shard.name}{parquet.SUFFIX}"

    def open_journal(self, shard: ShardRange) -> Location:
        """Return the journal that a worker on ``shard`` appends to; in an object store, the folder of its segments."""
        return self.journal / f"{shard.name}{JOURNAL_SUFFIX}"

    def archive(self, shard: ShardRange) -> Location:
        """Return the journal of ``shard`` once it is committed."""
        return self.journal / f"{shard.name}{JOURNAL_SUFFIX}{ARCHIVE_SUFFIX}"

    def batch_ledger(self, shard: ShardRange, model: str) -> Location:
        """Return the ledger of the batches in which ``model`` is asked for ``shard``."""
        tag = hashlib.sha256(model.encode()).hexdigest()[:8]  # a model's name may hold anything
        return self.batches / f"{shard.name}.{tag}{LEDGER_SUFFIX}"

    def batch_ledgers(self, shard: ShardRange) -> list[Location]:
        """Return all of them that are there."""
        return [self.batches / name for name in files.names(self.batches, f"{shard.name}.")]

    def data_files(self) -> Iterator[tuple[ShardRange, Location]]:
        """Yield every data file, committed or not."""
        for folder in self.tables.values():
            yield from _shards_in(folder, parquet.SUFFIX)

    def open_journals(self) -> Iterator[tuple[ShardRange, Location]]:
        """Yield every open journal."""
        return _shards_in(self.journal, JOURNAL_SUFFIX)

    def archives(self) -> Iterator[tuple[ShardRange, Location]]:
        """Yield every archived journal."""
        return _shards_in(self.journal, JOURNAL_SUFFIX + ARCHIVE_SUFFIX)

    def journals(self) -> Iterator[tuple[ShardRange, Location]]:
        """Yield every journal, open ones first: of one listing, which takes a while where there are many."""
        names = files.names(self.journal)
        for suffix in (JOURNAL_SUFFIX, JOURNAL_SUFFIX + ARCHIVE_SUFFIX):
            for name in names:
                if shard := ShardRange.of_file(name, suffix):
                    yield shard, self.journal / name

    def begun(self) -> set[ShardRange]:
        """Return the shards that left anything but a lease, committed or not."""
        return {shard for files_of in (self.data_files, self.journals) for shard, _ in files_of()}

    def temporaries(self) -> Iterator[tuple[ShardRange, Location]]:
        """Yield every temporary file: somebody is writing it, or died while writing it. Object stores have none."""
        if isinstance(self.manifest, ObjectPath):
            return
        for folder in (*self.tables.values(), self.manifest, self.journal, self.lease, self.batches):
            for name in files.names(folder):
                target = files.target_of(name)
                shard = ShardRange.of_file(target.partition(".")[0], "") if target else None
                if shard:
                    yield shard, folder / name

    def strangers(self) -> Iterator[Location]:
        """Yield every file in these folders that no store has written."""
        known = {path for _, path in (*self.data_files(), *self.journals(), *self.temporaries())}
        known |= {path for _, path in _shards_in(self.manifest, manifest.SUFFIX)}
        for folder in (*self.tables.values(), self.manifest, self.journal):
            yield from (folder / name for name in files.names(folder) if folder / name not in known)


def _shards_in(folder: Location, suffix: str) -> Iterator[tuple[ShardRange, Location]]:
    for name in files.names(folder):
        if shard := ShardRange.of_file(name, suffix):
            yield shard, folder / name
