"""A full-text index of one table, in one SQLite file of the cache: filled shard by shard, asked at any time.

A shard goes in whole or not at all, under the hash of its data file; one that was made again replaces the old one. Of
the texts the index keeps only where each word stands: a row leads back to the Parquet file. A file that is lost or
damaged is only built again.
"""

import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from infra.search.file import GENERATIONS, IndexFile, column_of, is_damage
from infra.search.words import expression, indexed

MOST_COUNTED = 10_000


class SearchTooLong(Exception):
    """A search took longer than it may."""


class IndexDamaged(Exception):
    """The file was damaged, and has been removed: whoever opens it next begins anew."""


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
        self._file = IndexFile(path, self._facets)
        self._connection = self._file.connected()

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()

    def shards(self) -> dict[str, str]:
        """Return what is in the index: name of the shard -> hash of its data file."""
        with self._sound() as connection:
            return dict(connection.execute("SELECT name, sha256 FROM shard WHERE sha256 IS NOT NULL"))

    def put(self, shard: str, sha256: str, rows: Iterable[Indexed]) -> bool:
        """Index a shard, in place of what was indexed under its name; False where another process has just done so."""
        with self._writing() as connection:
            known = connection.execute("SELECT id, sha256, generation FROM shard WHERE name = ?", (shard,)).fetchone()
            if known and known[1] == sha256:
                return False
            # Above that of whatever had these rows before: under this name, or in a shard that was cut otherwise.
            (gone,) = connection.execute("SELECT max(generation) FROM shard WHERE sha256 IS NULL").fetchone()
            before = [each for each in (gone, known[2] if known else None) if each is not None]
            generation = (max(before) + 1) % GENERATIONS if before else 0
            if known:
                self._forget(known[0])
            number = self._note(shard, sha256, generation)
            self._insert(number, generation, rows)
        return True

    def drop(self, shard: str) -> None:
        """Take a shard out that is no longer committed."""
        with self._writing() as connection:
            known = connection.execute("SELECT id, generation FROM shard WHERE name = ?", (shard,)).fetchone()
            if known:
                self._forget(known[0])
                self._note(shard, None, known[1])  # its name stays, for its generation

    def by_id(self, row_id: str) -> int | None:
        """Return the number of the row with this id."""
        with self._sound() as connection:
            found = connection.execute("SELECT doc FROM row WHERE id = ?", (row_id,)).fetchone()
        return None if found is None else int(found[0]) // GENERATIONS

    def values(self, facet: str, most: int) -> list[Value]:
        """Return the most frequent values of a facet."""
        with self._sound() as connection:
            found = connection.execute(
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
        with self._sound():
            tables, conditions, values = self._where(query)
        asked = (
            f"SELECT row.doc / {GENERATIONS}, shard.name, row.place FROM {tables} JOIN shard ON shard.id = row.shard"
            f" {conditions} ORDER BY {'fts.rowid' if 'fts' in tables else 'row.doc'} LIMIT ? OFFSET ?"
        )
        with self._in_time(seconds) as connection:
            return [Hit(*row) for row in connection.execute(asked, (*values, count, start))]

    def count(self, query: Query, *, seconds: float) -> int:
        """Return how many rows there are; above ``MOST_COUNTED`` nobody counts on.

        Raises:
            QueryUnusable, SearchTooLong: as of ``find``.
        """
        with self._sound():
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
            conditions.append(f"row.{column_of(facet)} = (SELECT id FROM value WHERE facet = ? AND value = ?)")
            values += [facet, value]
        for bound, sign in ((query.least, ">="), (query.most, "<=")):
            if bound is not None:
                conditions.append(f"row.size {sign} ?")
                values.append(min(bound, 2**62))
        return tables, f"WHERE {' AND '.join(conditions)}" if conditions else "", values

    def _insert(self, shard: int, generation: int, rows: Iterable[Indexed]) -> None:
        columns = ", ".join(map(column_of, self._facets))
        marks = ", ".join("?" * (5 + len(self._facets)))
        put_row = f"INSERT INTO row (doc, shard, place, id, size{', ' if columns else ''}{columns}) VALUES ({marks})"
        codes: dict[tuple[str, str], int] = {}
        seen: dict[int, int] = {}
        for row in rows:
            document = row.index * GENERATIONS + generation
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
                f"UPDATE value SET rows = rows - gone.n FROM (SELECT {column_of(facet)} AS code, count(*) AS n FROM row"
                f" WHERE shard = ? GROUP BY code) AS gone WHERE value.id = gone.code",
                (shard,),
            )
        self._connection.execute("DELETE FROM row WHERE shard = ?", (shard,))
        self._connection.execute("DELETE FROM shard WHERE id = ?", (shard,))

    def _note(self, shard: str, sha256: str | None, generation: int) -> int:
        (number,) = self._connection.execute(
            "INSERT INTO shard (name, sha256, generation) VALUES (?, ?, ?) RETURNING id", (shard, sha256, generation)
        ).fetchone()
        return int(number)

    @contextmanager
    def _sound(self) -> Iterator[sqlite3.Connection]:
        """Remove the file where it turns out to be damaged: a cut of the power can leave it so, deep inside."""
        try:
            yield self._connection
        except sqlite3.DatabaseError as error:
            if not is_damage(error):
                raise
            self._connection.close()
            self._file.remove()
            raise IndexDamaged(f"{self._file.path} was damaged ({error}) and is built again: look later") from error

    @contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        with self._sound():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                if self._connection.in_transaction:  # of some errors SQLite rolls back by itself
                    self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    @contextmanager
    def _in_time(self, seconds: float) -> Iterator[sqlite3.Connection]:
        until = time.monotonic() + seconds
        self._connection.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        with self._sound():
            try:
                yield self._connection
            except sqlite3.OperationalError as error:
                if time.monotonic() > until:
                    raise SearchTooLong(f"it took more than {seconds:g} s") from error
                raise
            finally:
                self._connection.set_progress_handler(None, 0)
