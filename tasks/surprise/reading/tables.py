"""Parquet: each row is a row. Text comes as bytes, so that one bad character spoils one row, not the file."""

import threading
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.surprise.reading import records
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.raw import BadRow, InputUnfit, RawRow, Slice

SUFFIXES = (".parquet",)

_BATCH_ROWS = 256
_BUFFER_BYTES = 1 << 20  # read at a time from each column: a row group may be larger than the memory


class Source(Protocol):
    """A file that is not on this machine."""

    def open(self) -> BinaryIO:
        """Return a file that reads what is asked for.

        Raises:
            FileNotFoundError: it is not there.
        """
        ...

    def stamp(self) -> str:
        """Return what changes whenever the file is written."""
        ...

    def __hash__(self) -> int: ...


@dataclass(frozen=True, slots=True)
class Table:
    """A Parquet file; ``is_records`` says that it is one of the factory's own."""

    path: Path | Source
    name: str
    columns: Columns
    rows: int
    is_records: bool = False

    @classmethod
    def of(cls, path: Path | Source, name: str, columns: Columns, *, is_records: bool = False) -> "Table":
        """Look into a file.

        Raises:
            InputUnfit: it is no Parquet file, or lacks a column.
        """
        with _reading(path), pq.ParquetFile(_opened(path)) as file:
            rows, there = file.metadata.num_rows, file.schema_arrow.names
        for column in _read_of(columns, is_records):
            if column not in there:
                raise InputUnfit(
                    f"{path}: no column {column!r}; there are {', '.join(there)}: say which is which with"
                    " --text-column or --messages-column, --id-column, --group-column, --labels-column, --stratum"
                )
        return cls(path, name, columns, rows, is_records)

    def slice(self, start: int, stop: int) -> Slice:
        """See ``raw.Part``."""
        return TableSlice(self.path, self.name, self.columns, start, stop, self.is_records)

    def names(self) -> Iterator[Collection[str]]:
        """See ``raw.Part``; those that are not there were refused when the file was looked into."""
        yield self.columns.used()


@dataclass(frozen=True, slots=True)
class TableSlice:
    """Rows ``start`` to ``stop`` of a Parquet file, counted from 0."""

    path: Path | Source
    name: str
    columns: Columns
    start: int
    stop: int
    is_records: bool

    def read(self) -> list[RawRow]:
        """See ``raw.Slice``."""
        columns = _read_of(self.columns, self.is_records)
        with _reading(self.path):
            cursor = _cursor(self.path, _stamp(self.path), columns)
            rows = cursor.read(self.start, self.stop)
        return [
            RawRow(f"{self.name}:{number}", f"{self.name}, row {number}", row)
            for number, row in enumerate(rows, self.start)
        ]

    def values(self, content: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
        """See ``raw.Slice``."""
        assert isinstance(content, Mapping)
        found = {name: _decoded(name, value) for name, value in content.items()}
        return records.values(found) if self.is_records else found


def _read_of(columns: Columns, is_records: bool) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*records.COLUMNS, *columns.strata))) if is_records else columns.used()


class _Cursor:
    """Reads rows of a file in order, decoding each once; going back begins again. For one reader at a time."""

    def __init__(self, path: Path | Source, columns: tuple[str, ...]) -> None:
        self._path = path
        self._columns = list(columns)
        self._lock = threading.Lock()
        self._restart()

    def _restart(self) -> None:
        file = pq.ParquetFile(_opened(self._path), pre_buffer=False, buffer_size=_BUFFER_BYTES)
        self._groups = file.metadata.num_row_groups
        self._batches: Iterator[Any] = file.iter_batches(_BATCH_ROWS, columns=self._columns)
        self._next = 0  # the first row of what ``_batches`` yields next
        self._batch: Any = None

    def read(self, start: int, stop: int) -> list[dict[str, Any]]:
        with self._lock:
            if self._batch is not None and start < self._next - self._batch.num_rows:
                self._restart()
            found: list[dict[str, Any]] = []
            while start < stop:
                while self._batch is None or start >= self._next:
                    self._batch = next(self._batches)
                    self._next += self._batch.num_rows
                first = self._next - self._batch.num_rows
                part = self._batch.slice(start - first, min(stop, self._next) - start)
                found += pa.Table.from_batches([part]).cast(_with_bytes(part.schema)).to_pylist()
                start += part.num_rows
            return found


def _opened(path: Path | Source) -> Path | BinaryIO:
    return path if isinstance(path, Path) else path.open()


def _stamp(path: Path | Source) -> str:
    if not isinstance(path, Path):
        return path.stamp()
    status = path.stat()
    return f"{status.st_size} {status.st_mtime_ns}"


@lru_cache(maxsize=8)
def _cursor(path: Path | Source, stamp: str, columns: tuple[str, ...]) -> _Cursor:
    return _Cursor(path, columns)


def _with_bytes(schema: pa.Schema) -> pa.Schema:
    return pa.schema([field.with_type(_as_bytes(field.type)) for field in schema])


def _as_bytes(kind: pa.DataType) -> pa.DataType:
    """The type with bytes in place of text, at every depth."""
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return pa.large_binary()
    if pa.types.is_dictionary(kind):
        return _as_bytes(kind.value_type)
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_as_bytes(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_as_bytes(field.type)) for field in kind])
    return kind


def _decoded(column: str, value: object) -> object:
    match value:
        case bytes():
            try:
                return value.decode("utf-8")
            except UnicodeDecodeError as error:
                raise BadRow("invalid_utf8", f"{column}: byte {error.start} is not UTF-8 ({error.reason})") from error
        case list():
            return [_decoded(column, item) for item in value]
        case dict():
            return {name: _decoded(column, item) for name, item in value.items()}
        case _:
            return value


@contextmanager
def _reading(path: Path | Source) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise InputUnfit(f"{path}: no such file") from error
    except StopIteration as error:
        raise InputUnfit(f"{path}: has fewer rows than when the run began") from error
    except (OSError, pa.ArrowException) as error:
        raise InputUnfit(f"{path}: cannot be read as Parquet ({error})") from error
