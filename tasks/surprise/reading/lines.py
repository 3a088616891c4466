"""JSON lines, plain or gzip: each line is a row, whatever stands in it."""

import gzip
import threading
import zlib
from array import array
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import IO, Any

import numpy as np
import orjson

from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.kinds import kind
from tasks.surprise.reading.raw import BadRow, InputUnfit, RawRow, Slice

SUFFIXES = (".jsonl", ".ndjson", ".jsonl.gz", ".ndjson.gz")

_STEP = 64  # lines from one mark to the next: 10 million lines have marks of 1.2 MB
_CHUNK_BYTES = 1 << 22
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Lines:
    """A file of JSON lines, with the place of every 64th."""

    path: Path
    name: str
    columns: Columns
    rows: int
    marks: "array[int]"

    @classmethod
    def of(cls, path: Path, name: str, columns: Columns) -> "Lines":
        """Count the lines of a file; once for each state of it in a process.

        Raises:
            InputUnfit: it cannot be read.
        """
        with _reading(path):
            status = path.stat()
            rows, marks = _index(path, status.st_size, status.st_mtime_ns)
        return cls(path, name, columns, rows, marks)

    def slice(self, start: int, stop: int) -> Slice:
        """See ``raw.Part``."""
        mark = start // _STEP
        return LinesSlice(self.path, self.name, self.columns, start, stop, self.marks[mark], start - mark * _STEP)

    def names(self) -> Iterator[Collection[str]]:
        """See ``raw.Part``."""
        for start in range(0, self.rows, _STEP):
            lines = self.slice(start, min(start + _STEP, self.rows))
            for row in lines.read():
                try:
                    yield lines.values(row.content).keys()  # type: ignore[arg-type]
                except BadRow:  # one of the rejects
                    continue


@dataclass(frozen=True, slots=True)
class LinesSlice:
    """Lines ``start`` to ``stop`` of a file, counted from 0: those after the first ``skipped`` from byte ``offset``."""

    path: Path
    name: str
    columns: Columns
    start: int
    stop: int
    offset: int
    skipped: int

    def read(self) -> list[RawRow]:
        """See ``raw.Slice``."""
        wanted = slice(self.skipped, self.skipped + self.stop - self.start)
        with _reading(self.path), _opened(self.path) as file:
            file.seek(self.offset)
            lines = list(islice(file, wanted.start, wanted.stop))
        if len(lines) < self.stop - self.start:
            raise InputUnfit(f"{self.path}: ends before line {self.stop}: it has changed since the run began")
        if lines and self.start == 0:
            lines[0] = lines[0].removeprefix(_BOM)
        return [
            RawRow(f"{self.name}:{number}", f"{self.name}, line {number}", line.rstrip(b"\r\n"))
            for number, line in enumerate(lines, self.start + 1)
        ]

    def values(self, content: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
        """See ``raw.Slice``."""
        assert isinstance(content, bytes)
        if not content.strip():
            raise BadRow("blank_line", "nothing stands in this line")
        try:
            found = orjson.loads(content)
        except orjson.JSONDecodeError as error:
            _check_utf8(content)
            raise BadRow("invalid_json", f"not JSON: {error.msg}, at character {error.pos}") from error
        if not isinstance(found, dict):
            raise BadRow("not_an_object", f"{kind(found)}, not an object with named values")
        return found


def _check_utf8(line: bytes) -> None:
    try:
        line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadRow("invalid_utf8", f"byte {error.start} of the line is not UTF-8 ({error.reason})") from error


@lru_cache(maxsize=1024)
def _index(path: Path, size: int, mtime_ns: int) -> tuple[int, "array[int]"]:
    """Count lines, and note the offset of every 64th in the unpacked bytes; size and time stand for the content."""
    marks, rows, at, last = array("Q", [0]), 0, 0, b"\n"
    with _opened(path) as file:
        file.seek(0)
        while chunk := file.read(_CHUNK_BYTES):
            begins = np.flatnonzero(np.frombuffer(chunk, np.uint8) == ord("\n")) + at + 1  # of the following lines
            marks.extend(begins[(-rows - 1) % _STEP :: _STEP].tolist())
            rows, at, last = rows + begins.size, at + len(chunk), chunk[-1:]
    return rows + (last != b"\n"), marks


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes] | gzip.GzipFile]:
    """Open a file. A gzip file stays open: going on in it is cheap, going back unpacks it anew.

    Shards are handed out in order, so that a process unpacks a file once, not once a shard.
    """
    if path.suffix != ".gz":
        with path.open("rb") as file:
            yield file
        return
    status = path.stat()
    lock, unpacking = _unpacking(path, status.st_size, status.st_mtime_ns)
    with lock:
        yield unpacking


@lru_cache(maxsize=8)
def _unpacking(path: Path, size: int, mtime_ns: int) -> tuple[threading.Lock, gzip.GzipFile]:
    return threading.Lock(), gzip.open(path, "rb")  # closed when it is forgotten


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError as error:
        raise InputUnfit(f"{path}: no such file") from error
    except (OSError, EOFError, zlib.error) as error:
        raise InputUnfit(f"{path}: cannot be read ({error}): is it whole?") from error
