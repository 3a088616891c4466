"""A full-text index of one table, in one SQLite file of the cache: filled shard by shard, asked at any time.

A shard goes in whole or not at all, under the hash of its data file; one that was made again replaces the old one. Of
the texts the index keeps only where each word stands: a row leads back to the Parquet file. A file that is lost or
damaged is only built again.
"""

import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from infra.search.words import expression, indexed

CACHE_KB = 32_768  # of pages held in memory, for the one that writes
WAIT_S = 30.0  # for another process that writes
MOST_COUNTED = 10_000
_GENERATIONS = 256  # of a shard: see ``_schema``


class SearchTooLong(Exception):
    """A search took longer than it may."""


@dataclass(frozen=True, slots=True)
class Indexed:
    """What the index is told of a row.

    Attributes:
        index: its number, unique in the table.
        row_id: its id.
        place: in its shard's file.
        size: how long it is, in whatever unit the table counts.
        facets: a value for each facet of the table, None where it has none.
        text: what full-text search looks through.
        names: what it is about: names of groups and keys.
    """

    index: int
    row_id: str
    place: int
    size: int
    facets: Mapping[str, str | None]
    text: str
    names: str = ""


@dataclass(frozen=True, slots=True)
class Query:
    """What is looked for; all of it has to hold.

    Attributes:
        text: words and phrases of the text, see ``infra.search.words``; or the id of a row.
        names: the same of the names.
        facets: facet -> value.
        least, most: of the size.
    """

    text: str = ""
    names: str = ""
    facets: Mapping[str, str] = field(default_factory=dict)
    least: int | None = None
    most: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether every row is wanted."""
        return not (self.text.strip() or self.names.strip() or self.facets) and self.least is None is self.most


@dataclass(frozen=True, slots=True)
class Hit:
    """A row that was found: the name of its shard, and its place in that shard's file."""

    index: int
    shard: str
    place: int


@dataclass(frozen=True, slots=True)
class Value:
    """A value of a facet, and in how many rows it is."""

    value: str
    rows: int


class SearchIndex:
    """The index of one table. Each thread opens its own."""

    def __init__(self, path: Path, facets: Sequence[str]) -> None:
        """Open the file at ``path``, made new where it is none of ours.

        Args:
            path: the file; its folder is there.
            facets: their names, of letters: they become names of columns.
        """
        if bad := [name for name in facets if not name.isidentifier()]:
            raise ValueError(f"facet {bad[0]!r}: use letters, digits and underscores")
        self._facets = tuple(facets)
        self._path = path
        self._connection = self._connected()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def shards(self) -> dict[str, str]:
        """Return what is in the index: name of the shard -> hash of its data file."""
        return dict(self._connection.execute("SELECT name, sha256 FROM shard"))

    def put(self, shard: str, sha256: str, rows: Iterable[Indexed]) -> bool:
        """Index a shard, in place of what was indexed under its name; False where another process has just done so."""
        with self._writing() as connection:
            known = connection.execute("SELECT id, sha256, generation FROM shard WHERE name = ?", (shard,)).fetchone()
            if known and known[1] == sha256:
                return False
            generation = 0
            if known:
                generation = (known[2] + 1) % _GENERATIONS
                self._forget(known[0])
            (number,) = connection.execute(
                "INSERT INTO shard (name, sha256, generation) VALUES (?, ?, ?) RETURNING id",
                (shard, sha256, generation),
            ).fetchone()
            self._insert(number, generation, rows)
        return True

    def drop(self, shard: str) -> None:
        """Take a shard out that is no longer committed."""
        with self._writing() as connection:
            known = connection.execute("SELECT id FROM shard WHERE name = ?", (shard,)).fetchone()
            if known:
                self._forget(known[0])

    def by_id(self, row_id: str) -> int | None:
        """Return the number of the row with this id."""
        found = self._connection.execute("SELECT doc FROM row WHERE id = ?", (row_id,)).fetchone()
        return None if found is None else int(found[0]) // _GENERATIONS

    def values(self, facet: str, most: int) -> list[Value]:
        """Return the most frequent values of a facet."""
        found = self._connection.execute(
            "SELECT value, rows FROM value WHERE facet = ? AND rows > 0 ORDER BY rows DESC, value LIMIT ?",
            (facet, most),
        )
        return [Value(*row) for row in found]

    def find(self, query: Query, start: int, count: int, *, seconds: float) -> list[Hit]:
        """Return up to ``count`` rows from the ``start``-th on, in order of their numbers.

        Raises:
            QueryUnusable: it asks for nothing but exclusions.
            SearchTooLong: it took more than ``seconds``.
        """
        tables, conditions, values = self._where(query)
        asked = (
            f"SELECT row.doc / {_GENERATIONS}, shard.name, row.place FROM {tables} JOIN shard ON shard.id = row.shard"
            f" {conditions} ORDER BY {'fts.rowid' if 'fts' in tables else 'row.doc'} LIMIT ? OFFSET ?"
        )
        with self._in_time(seconds) as connection:
            return [Hit(*row) for row in connection.execute(asked, (*values, count, start))]

    def count(self, query: Query, *, seconds: float) -> int:
        """Return how many rows there are; above ``MOST_COUNTED`` nobody counts on.

        Raises:
            QueryUnusable, SearchTooLong: as of ``find``.
        """
        tables, conditions, values = self._where(query)
        asked = f"SELECT count(*) FROM (SELECT 1 FROM {tables} {conditions} LIMIT {MOST_COUNTED + 1})"
        with self._in_time(seconds) as connection:
            (found,) = connection.execute(asked, values).fetchone()
        return int(found)

    def _where(self, query: Query) -> tuple[str, str, list[object]]:
        """Return tables, conditions and their values."""
        matches = [expression(query.text, "text"), expression(query.names, "names")]
        match = " AND ".join(each for each in matches if each)
        conditions, values = [], list[object]()
        if match:
            # An id is found by itself: its parts are words of their own to the index, in the order of the id.
            by_id = self._connection.execute("SELECT doc FROM row WHERE id = ?", (query.text.strip(),)).fetchone()
            conditions.append("row.doc = ?" if by_id else "fts MATCH ?")
            values.append(by_id[0] if by_id else match)
        tables = "row" if not match or conditions[0] == "row.doc = ?" else "fts CROSS JOIN row ON row.doc = fts.rowid"
        for facet, value in query.facets.items():
            if facet not in self._facets:
                raise ValueError(f"facet {facet!r}: there are {', '.join(self._facets)}")
            conditions.append(f"row.{_column(facet)} = (SELECT id FROM value WHERE facet = ? AND value = ?)")
            values += [facet, value]
        for bound, sign in ((query.least, ">="), (query.most, "<=")):
            if bound is not None:
                conditions.append(f"row.size {sign} ?")
                values.append(min(bound, 2**62))
        return tables, f"WHERE {' AND '.join(conditions)}" if conditions else "", values

    def _insert(self, shard: int, generation: int, rows: Iterable[Indexed]) -> None:
        columns = ", ".join(map(_column, self._facets))
        marks = ", ".join("?" * (5 + len(self._facets)))
        put_row = f"INSERT INTO row (doc, shard, place, id, size{', ' if columns else ''}{columns}) VALUES ({marks})"
        codes: dict[tuple[str, str], int] = {}
        seen: dict[int, int] = {}
        for row in rows:
            document = row.index * _GENERATIONS + generation
            coded = [self._code(codes, facet, row.facets.get(facet)) for facet in self._facets]
            for code in coded:
                if code is not None:
                    seen[code] = seen.get(code, 0) + 1
            self._connection.execute(put_row, (document, shard, row.place, row.row_id, row.size, *coded))
            self._connection.execute(
                "INSERT INTO fts (rowid, text, names) VALUES (?, ?, ?)",
                (document, indexed(row.text), indexed(row.names)),
            )
        self._connection.executemany(
            "UPDATE value SET rows = rows + ? WHERE id = ?", [(count, code) for code, count in seen.items()]
        )

    def _code(self, codes: dict[tuple[str, str], int], facet: str, value: str | None) -> int | None:
        if value is None:
            return None
        if (facet, value) not in codes:
            self._connection.execute("INSERT OR IGNORE INTO value (facet, value) VALUES (?, ?)", (facet, value))
            (codes[facet, value],) = self._connection.execute(
                "SELECT id FROM value WHERE facet = ? AND value = ?", (facet, value)
            ).fetchone()
        return codes[facet, value]

    def _forget(self, shard: int) -> None:
        """Take the rows of a shard out. What the full-text index knows of them leads nowhere from then on."""
        for facet in self._facets:
            self._connection.execute(
                f"UPDATE value SET rows = rows - gone.n FROM (SELECT {_column(facet)} AS code, count(*) AS n FROM row"
                f" WHERE shard = ? GROUP BY code) AS gone WHERE value.id = gone.code",
                (shard,),
            )
        self._connection.execute("DELETE FROM row WHERE shard = ?", (shard,))
        self._connection.execute("DELETE FROM shard WHERE id = ?", (shard,))

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield self._connection
        except BaseException:
            self._connection.execute("ROLLBACK")
            raise
        self._connection.execute("COMMIT")

    @contextmanager
    def _in_time(self, seconds: float) -> Iterator[sqlite3.Connection]:
        until = time.monotonic() + seconds
        self._connection.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        try:
            yield self._connection
        except sqlite3.OperationalError as error:
            if time.monotonic() > until:
                raise SearchTooLong(f"it took more than {seconds:g} s") from error
            raise
        finally:
            self._connection.set_progress_handler(None, 0)

    def _connected(self) -> sqlite3.Connection:
        connection = self._opened()
        try:
            _prepare(connection, self._facets)
        except sqlite3.DatabaseError as error:
            connection.close()
            if error.sqlite_errorcode not in (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT):
                raise
            for suffix in ("", "-wal", "-shm"):
                self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)
            connection = self._opened()
            _prepare(connection, self._facets)
        return connection

    def _opened(self) -> sqlite3.Connection:
        self._path.touch(mode=0o600)  # words of texts are in there
        return sqlite3.connect(self._path, timeout=WAIT_S, isolation_level=None)


def _column(facet: str) -> str:
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
    columns = "".join(f", {_column(facet)} INTEGER" for facet in facets)
    return [
        *(f"DROP TABLE IF EXISTS {table}" for table in ("fts", "row", "value", "shard")),
        "CREATE TABLE shard (id INTEGER PRIMARY KEY, name TEXT UNIQUE, sha256 TEXT, generation INTEGER)",
        "CREATE TABLE value (id INTEGER PRIMARY KEY, facet TEXT, value TEXT, rows INTEGER DEFAULT 0,"
        " UNIQUE (facet, value))",
        # ``doc`` is the row's number times ``_GENERATIONS``, plus how often its shard was made again: so what the full-
        # text index still knows of an older text leads to no row, and the order is that of the numbers.
        f"CREATE TABLE row (doc INTEGER PRIMARY KEY, shard INTEGER, place INTEGER, id TEXT, size INTEGER{columns})",
        "CREATE INDEX row_id ON row (id)",
        "CREATE INDEX row_shard ON row (shard)",
        *(f"CREATE INDEX row_{facet} ON row ({_column(facet)})" for facet in facets),
        "CREATE VIRTUAL TABLE fts USING fts5(text, names, content='', columnsize=0, tokenize='unicode61')",
    ]
