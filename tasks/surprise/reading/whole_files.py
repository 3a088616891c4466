"""Files that are a row each: prose, or the code of a folder."""

import stat
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.raw import BadRow, RawRow, Slice

_OF_FILES = ("path", "name", "folder", "suffix")
_HEAD_BYTES = 8192  # a NUL byte in there means binary, as git sees it


@dataclass(frozen=True, slots=True)
class WholeFiles:
    """Files below ``base``, by their names there."""

    base: Path
    files: tuple[str, ...]
    columns: Columns

    @property
    def rows(self) -> int:
        """See ``raw.Part``."""
        return len(self.files)

    def slice(self, start: int, stop: int) -> Slice:
        """See ``raw.Part``."""
        return WholeFilesSlice(self.base, self.files[start:stop], self.columns)

    def names(self) -> Iterator[Collection[str]]:
        """See ``raw.Part``."""
        yield (self.columns.text, *_OF_FILES)


@dataclass(frozen=True, slots=True)
class WholeFilesSlice:
    """Some of the files. Of each there are the columns text, path, name, folder (the uppermost) and suffix."""

    base: Path
    files: tuple[str, ...]
    columns: Columns

    def read(self) -> list[RawRow]:
        """See ``raw.Slice``."""
        return [self._row(name) for name in self.files]

    def values(self, content: bytes | Mapping[str, Any]) -> Mapping[str, Any]:
        """See ``raw.Slice``."""
        assert isinstance(content, Mapping)
        try:
            text = content["text"].decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise BadRow("invalid_utf8", f"byte {error.start} is not UTF-8 ({error.reason})") from error
        name = printable(content["path"])
        path = PurePosixPath(name)
        folder = path.parts[0] if len(path.parts) > 1 else None
        return {
            self.columns.text: text,
            "path": name,
            "name": path.name,
            "folder": folder,
            "suffix": path.suffix.lower() or None,
        }

    def _row(self, name: str) -> RawRow:
        told = printable(name)
        try:
            return RawRow(told, told, {"path": name, "text": _read(self.base, name)})
        except BadRow as bad:
            return RawRow(told, told, bad)


def _read(base: Path, name: str) -> bytes:
    path = base / name
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(base):
            raise BadRow("outside_link", "a link to a file outside the folder: not followed")
        if not stat.S_ISREG(path.stat().st_mode):
            raise BadRow("not_a_file", "neither a file nor a folder")
        with path.open("rb") as file:
            head = file.read(_HEAD_BYTES)
            if b"\0" in head:
                raise BadRow("binary", f"a NUL byte at {head.index(0)}: binary, or UTF-16 or UTF-32 text")
            return head + file.read()
    except OSError as error:
        raise BadRow("unreadable_file", f"the file cannot be read: {error.strerror}") from error


def printable(name: str) -> str:
    """Write a file's name so that it can be stored: bytes in it that are no UTF-8 as escapes."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
