"""The shards of one stage of one data set: committed once and whole, read from the manifest only."""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime

import pyarrow as pa

from infra.shards import files, parquet
from infra.shards.checks import SchemaMismatch, check_ids, check_nulls, check_rows, check_schema
from infra.shards.journal import Journal, archive_journal
from infra.shards.layout import Layout
from infra.shards.lease import Lease, LeaseHeld, acquire
from infra.shards.location import Location
from infra.shards.manifest import AlreadyCommitted, FileRecord, Manifest, ShardRecord, ShardSummary
from infra.shards.ranges import ShardRange

LEASE_TTL_S = 60.0


class StageStore:
    """Everything that one stage keeps of one data set.

    Attributes:
        stage: the stage's name.
        tables: the tables that the stage owns, with their schemas.
        id_column: the column that tells rows apart, or None.
        layout: where the files are.
        manifest: what is done.
    """

    def __init__(
        self, root: Location, dataset: str, stage: str, tables: Mapping[str, pa.Schema], *, id_column: str | None = None
    ) -> None:
        """Name a store; nothing is read or written.

        Raises:
            ValueError: a name could leave the root or is taken, or a table lacks the id column.
        """
        for table, schema in tables.items():
            if id_column is not None and id_column not in schema.names:
                raise ValueError(f"table {table!r} has no column {id_column!r}")
        self.stage = stage
        self.tables = dict(tables)
        self.id_column = id_column
        self.layout = Layout(root, dataset, stage, tables)
        self.manifest = Manifest(self.layout.manifest)

    def acquire(self, shard: ShardRange, *, ttl_s: float = LEASE_TTL_S) -> Lease:
        """Take the lease of ``shard``; its owner renews it well within ``ttl_s`` seconds.

        Raises:
            LeaseHeld: another worker has it.
        """
        return acquire(self.layout.lease, shard, ttl_s=ttl_s)

    def journal(self, lease: Lease) -> Journal:
        """Open the journal of the leased shard, with all that was ever paid for its rows. Close it before ``commit``.

        Raises:
            LeaseLost: the lease is not ours any more.
            JournalCorrupt: a journal is damaged other than by a torn tail.
        """
        self._check_is_for(lease.shard, lease)
        lease.check()
        shard = lease.shard
        return Journal(
            self.layout.open_journal(shard),
            archive=self.layout.archive(shard),
            neighbours=[path for other, path in self.layout.journals() if other != shard and other.overlaps(shard)],
            fence=lease,
        )

    def commit(
        self,
        shard: ShardRange,
        tables: Mapping[str, pa.Table],
        lease: Lease,
        expected_rows: int,
        *,
        spec_hash: str,
        input_hashes: Mapping[str, str],
        summary: ShardSummary,
    ) -> ShardRecord:
        """Write ``shard`` whole and put it into the manifest; killed at any point, it is done or it is not.

        A shard that was committed before is replaced. It waits for the disk: call it off the event loop.

        Args:
            shard: the rows' range.
            tables: every table of the stage, empty ones too.
            lease: the right to do so.
            expected_rows: rows in all tables together.
            spec_hash: of all that shaped the rows.
            input_hashes: what was read, name -> content hash.
            summary: what the stage reports.

        Raises:
            SchemaMismatch: a table is not as its schema says.
            RowsMismatch: rows are missing, too many or repeated.
            LeaseLost: another worker has taken over.
            AlreadyCommitted: rows of it are committed in a shard that was cut otherwise.
        """
        self._check_is_for(shard, lease)
        self._check_tables(shard, tables, expected_rows)
        lease.renew()
        encoded = {table: parquet.encode(tables[table]) for table in self.tables}
        record = ShardRecord(
            shard=shard,
            stage=self.stage,
            spec_hash=spec_hash,
            input_hashes=input_hashes,
            files={
                table: FileRecord(rows=tables[table].num_rows, bytes=data.nbytes, sha256=files.sha256(data))
                for table, data in encoded.items()
            },
            summary=summary,
            created_at=datetime.now(UTC),
            fencing_token=lease.token,
        )
        with ExitStack() as cleanup:
            staged = []
            for table, data in encoded.items():
                staged.append(files.stage(self.layout.data_file(table, shard), data))
                cleanup.callback(staged[-1].discard)
            lease.check()
            self.manifest.remove(shard)  # before any data changes: a crash from here on leaves no entry that lies
            for file in staged:
                file.publish(lease.check)
        lease.check()
        self.manifest.put(record)
        self._clear(shard, lease, committed=True)
        return record

    def paths(self, table: str) -> list[Location]:
        """Return the committed files of ``table`` in order of their rows, for polars, DuckDB and others."""
        return [self.layout.data_file(table, shard) for shard in self.manifest.shards()]

    def read(self, table: str, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the committed rows of ``table``, all or some columns, in order of their ranges.

        Raises:
            SchemaMismatch: a file is not as the schema says.
        """
        schema = self.tables[table]
        empty = schema.empty_table().select(schema.names if columns is None else list(columns))
        paths = self.paths(table)

        def read(path: Location) -> pa.Table:
            return parquet.read(path, schema, columns)

        return pa.concat_tables([empty, *files.mapped(read, paths, self.layout.manifest)])

    def read_shard(self, table: str, shard: ShardRange, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows of ``shard`` in ``table``, all or some columns, if they are what was committed.

        Raises:
            KeyError: the shard is not committed.
            TableDamaged: the file is gone, or another than the one that was committed.
            SchemaMismatch: the file is not as the schema says.
        """
        path = self.layout.data_file(table, shard)
        while True:
            committed = self.manifest.record_now(shard)
            data = files.read(path)
            if data is None:
                raise parquet.damaged(path, "is gone")
            if table not in committed.files or files.sha256(data) == committed.files[table].sha256:
                return parquet.decode(data, path, self.tables[table], columns)
            if self.manifest.record_now(shard) == committed:  # else it was made again in between
                raise parquet.damaged(path, "is not as it was committed")

    def sweep(self) -> list[ShardRange]:
        """Clear away what killed workers left, and return the shards where there was something to clear.

        Journals of committed shards are archived, temporary files removed. Shards that somebody works on are let be.
        """
        done = set(self.manifest.shards())
        left = {shard for shard, _ in self.layout.open_journals() if shard in done}
        left |= {shard for shard, _ in self.layout.temporaries()}
        cleared = []
        for shard in sorted(left):
            try:
                lease = self.acquire(shard)
            except LeaseHeld:
                continue
            with lease:
                self.clear(shard, lease)
            cleared.append(shard)
        return cleared

    def clear(self, shard: ShardRange, lease: Lease) -> None:
        """Archive the journal of ``shard`` if it is committed, and remove its temporary files; the lease is held."""
        self._clear(shard, lease, committed=files.exists(self.manifest.path(shard)))

    def _clear(self, shard: ShardRange, lease: Lease, *, committed: bool) -> None:
        """Archive the journal of a committed shard and remove temporary files; the caller holds the lease."""
        if committed:
            for ledger in self.layout.batch_ledgers(shard):  # what came with them is in the journal
                files.delete(ledger)
            archive_journal(self.layout.open_journal(shard), self.layout.archive(shard), lease.token)
        for other, path in list(self.layout.temporaries()):
            # A temporary lease may be a rival's who is about to find out that it has lost.
            if other == shard and (path.parent != self.layout.lease or files.age_seconds(path) > LEASE_TTL_S):
                files.delete(path)

    def _check_is_for(self, shard: ShardRange, lease: Lease) -> None:
        if (lease.shard, lease.directory) != (shard, self.layout.lease):
            raise ValueError(f"{self.layout.lease} {shard.name}: the lease is for {lease.directory} {lease.shard.name}")

    def _check_tables(self, shard: ShardRange, tables: Mapping[str, pa.Table], expected_rows: int) -> None:
        if set(tables) != set(self.tables):
            raise SchemaMismatch(f"{shard.name}: tables {sorted(tables)}, the stage owns {sorted(self.tables)}")
        for name, table in tables.items():
            place = f"{name}/{shard.name}"
            check_schema(table.schema, self.tables[name], place)
            check_nulls(table, place)
        check_rows(tables, expected_rows, shard.name)
        if self.id_column is not None:
            check_ids(tables, self.id_column, shard.name)
        for other in self.manifest.shards():
            if other != shard and other.overlaps(shard):
                raise AlreadyCommitted(f"{shard.name}: rows of it are committed in {other.name}; plan anew")
