"""From what a person names (files, folders, patterns) to the parts of the input, in a stable order."""

import glob
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from tasks.surprise.documents import PATH
from tasks.surprise.reading import lines, tables
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.lines import Lines
from tasks.surprise.reading.raw import InputUnfit, Part
from tasks.surprise.reading.tables import Table
from tasks.surprise.reading.whole_files import WholeFiles, printable

Format = Literal["auto", "parquet", "jsonl", "text"]

_OF_VERSION_CONTROL = frozenset({".git", ".hg", ".svn"})
_SUFFIXES: dict[Format, tuple[str, ...]] = {"parquet": tables.SUFFIXES, "jsonl": lines.SUFFIXES}


@dataclass(frozen=True, slots=True)
class _Found:
    """Files of one format."""

    format: Format
    files: tuple[Path, ...]


def parts_of(paths: Sequence[Path], format: Format, suffixes: Sequence[str], columns: Columns) -> list[Part]:
    """Find the parts of the input.

    Args:
        paths: files, folders and patterns; a folder is searched whole, but for version control.
        format: of all files; ``auto`` goes by the suffix, and in a folder takes Parquet files if there are any, else
            JSON lines if there are any, else every file as a text.
        suffixes: in folders, only texts that end so (``.py``); none for all.
        columns: what the columns mean.

    Raises:
        InputUnfit: nothing is there, a file is named twice, or one cannot be read.
    """
    named = [path for each in paths for path in _expanded(each)]
    found = [_found(path, format, tuple(suffix.lower() for suffix in suffixes)) for path in named]
    _check_once([file for each in found for file in each.files])
    base = _base(named)
    return [part for each in found for part in _parts(each, base, columns)]


def _expanded(path: Path) -> list[Path]:
    """Return what a pattern stands for, absolute; a path that exists is none, whatever its characters."""
    if path.exists():
        return [path.resolve()]
    matches = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 - a Path has no pattern from the root
    if not matches:
        raise InputUnfit(f"{path}: no such file or folder")
    return [Path(match).resolve() for match in matches]


def _base(named: Sequence[Path]) -> Path:
    """The folder that names of rows start below: what all that was named has in common."""
    return Path(os.path.commonpath([path if path.is_dir() else path.parent for path in named]))


def _found(path: Path, format: Format, suffixes: tuple[str, ...]) -> _Found:
    if not path.is_dir():
        return _Found(_format_of(path) if format == "auto" else format, (path,))
    files = tuple(_below(path))
    tried: tuple[Format, ...] = ("parquet", "jsonl", "text") if format == "auto" and not suffixes else (format,)
    for kind in tried:
        if chosen := tuple(file for file in files if _is_wanted(file, kind, suffixes)):
            return _Found("text" if kind == "auto" else kind, chosen)
    ends = suffixes or _SUFFIXES.get(format, ())
    raise InputUnfit(f"{path}: no file{' that ends with ' + ' or '.join(ends) if ends else ''} in this folder")


def _is_wanted(file: Path, kind: Format, suffixes: tuple[str, ...]) -> bool:
    if kind in _SUFFIXES:
        # Other programs leave files such as _SUCCESS or temporary ones beside their data.
        return _format_of(file) == kind and not file.name.startswith((".", "_"))
    return not suffixes or file.name.lower().endswith(suffixes)


def _below(folder: Path) -> Iterator[Path]:
    """Yield every file below a folder, in the order of their names; links to folders are not followed."""
    for here, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _OF_VERSION_CONTROL)
        yield from (Path(here, name) for name in sorted(names))


def _format_of(path: Path) -> Format:
    return next((kind for kind, suffixes in _SUFFIXES.items() if path.name.lower().endswith(suffixes)), "text")


def _parts(found: _Found, base: Path, columns: Columns) -> Iterator[Part]:
    names = [os.path.relpath(file, base) for file in found.files]
    if found.format == "text":
        if columns.messages is not None:
            raise InputUnfit(f"{found.files[0]}: a text has no messages: --messages-column is for Parquet and JSONL")
        strata = tuple(dict.fromkeys((*columns.strata, PATH)))
        yield WholeFiles(base, tuple(names), columns.model_copy(update={"strata": strata}))
        return
    for file, name in zip(found.files, names, strict=True):
        if found.format == "parquet":
            yield Table.of(file, printable(name), columns)
        else:
            yield Lines.of(file, printable(name), columns)


def _check_once(files: Sequence[Path]) -> None:
    seen = set()
    for file in files:
        if file in seen:
            raise InputUnfit(f"{file}: named twice, its rows would be scored twice: name it once")
        seen.add(file)
