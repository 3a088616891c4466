"""The SQLite file of an index: its tables, and what happens where it is of another version, damaged, or none at all."""

import sqlite3
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.search.words import TOKENIZER

CACHE_KB = 32_768  # of pages held in memory, for the one that writes
WAIT_S = 30.0  # for another process that writes
GENERATIONS = 256  # of a shard: see ``_schema``


@dataclass(frozen=True, slots=True)
class IndexFile:
    """A file and the facets of its table."""

    path: Path
    facets: Sequence[str]

    def connected(self) -> sqlite3.Connection:
        """Open the file with its tables in it, in place of those of another version and of what is no database."""
        connection = self._opened()
        try:
            _prepare(connection, self.facets)
        except sqlite3.DatabaseError as error:
            connection.close()
            if not is_damage(error):
                raise
            self.remove()
            connection = self._opened()
            _prepare(connection, self.facets)
        return connection

    def remove(self) -> None:
        """Delete it, and what SQLite keeps beside it."""
        for suffix in ("", "-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _opened(self) -> sqlite3.Connection:
        self.path.touch(mode=0o600)  # words of texts are in there
        return sqlite3.connect(self.path, timeout=WAIT_S, isolation_level=None)


def is_damage(error: sqlite3.Error) -> bool:
    """Tell whether it is the file that is at fault, not a lock, a full disk or a statement."""
    code = getattr(error, "sqlite_errorcode", 0)  # Python's own errors, as of a closed connection, have none
    return code & 0xFF in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)  # above these bits: where it is damaged


def column_of(facet: str) -> str:
    """Return the column of a facet."""
    return f"f_{facet}"


def _prepare(connection: sqlite3.Connection, facets: Sequence[str]) -> None:
    """Make the tables, in place of those of another version."""
    connection.execute(f"PRAGMA cache_size = -{CACHE_KB}")
    connection.execute("PRAGMA synchronous = OFF")  # after a power cut it is built again
    statements = _schema(facets)
    version = zlib.crc32("".join(statements).encode()) >> 1  # SQLite takes 31 bits
    if _version(connection) == version:
        return
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("BEGIN EXCLUSIVE")
    if _version(connection) != version:  # else another process has been faster
        for statement in statements:
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {version}")
    connection.execute("COMMIT")


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _schema(facets: Sequence[str]) -> list[str]:
    columns = "".join(f", {column_of(facet)} INTEGER" for facet in facets)
    return [
        *(f"DROP TABLE IF EXISTS {table}" for table in ("fts", "row", "value", "shard")),
        # Without a hash: a shard that is gone. Its rows may come again, in other shards, see ``put``.
        "CREATE TABLE shard (id INTEGER PRIMARY KEY, name TEXT UNIQUE, sha256 TEXT, generation INTEGER)",
        "CREATE TABLE value (id INTEGER PRIMARY KEY, facet TEXT, value TEXT, rows INTEGER DEFAULT 0,"
        " UNIQUE (facet, value))",
        # ``doc`` is the row's number times ``GENERATIONS``, plus how often its shard was made again: so what the full-
        # text index still knows of an older text leads to no row, and the order is that of the numbers.
        f"CREATE TABLE row (doc INTEGER PRIMARY KEY, shard INTEGER, place INTEGER, id TEXT, size INTEGER{columns})",
        "CREATE INDEX row_id ON row (id)",
        "CREATE INDEX row_shard ON row (shard)",
        *(f"CREATE INDEX row_{facet} ON row ({column_of(facet)})" for facet in facets),
        f"CREATE VIRTUAL TABLE fts USING fts5(text, names, content='', columnsize=0, tokenize='{TOKENIZER}')",
    ]
