"""Opens an input that may hold data sets of the factory itself: their manifests say which files count."""

import posixpath
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from pydantic import BaseModel, ConfigDict, Field

from infra.shards import files, objects
from infra.shards.location import Location, ObjectPath
from infra.shards.ranged import RangedObject
from tasks.surprise.reading.columns import RECORDS, Columns
from tasks.surprise.reading.find import Format, parts_of
from tasks.surprise.reading.input import Input
from tasks.surprise.reading.raw import InputUnfit, Part
from tasks.surprise.reading.tables import SUFFIXES, Table
from tasks.surprise.reading.whole_files import printable
from tasks.synthesis.steps import records_store


class InputConfig(BaseModel):
    """What is to be scored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: tuple[Location, ...] = Field(min_length=1, description="files, folders, patterns, data sets of records")
    format: Format = "auto"
    suffixes: tuple[str, ...] = Field(default=(), description="in folders, only texts whose names end so")
    columns: Columns = Columns()

    def open(self) -> Input:
        """Find all rows; records first.

        Raises:
            InputUnfit: nothing is there, or something that cannot be read.
        """
        sets = [path for path in self.paths if self.format == "auto" and _is_records(path)]
        parts: list[Part] = [part for each in sets for part in _records(each, self.columns)]
        others = [path for path in self.paths if path not in sets]
        parts += self._in_store([path for path in others if isinstance(path, ObjectPath)])
        if here := [path for path in others if isinstance(path, Path)]:
            parts += parts_of(here, self.format, self.suffixes, self.columns)
        return Input(parts)

    def _in_store(self, places: Sequence[ObjectPath]) -> Iterator[Part]:
        """Yield the Parquet files that are named, or lie below what is; rows are named as those of a folder are."""
        if places and self.format not in ("auto", "parquet"):
            raise InputUnfit(f"{places[0]}: in an object store only Parquet is read: copy other files to this machine")
        found = [file for place in places for file in _tables(place)]
        if twice := next((file for file, times in Counter(found).items() if times > 1), None):
            raise InputUnfit(f"{twice}: named twice, its rows would be scored twice: name it once")
        named = [str(place.parent if place in found else place) for place in places]
        for file in found:
            name = posixpath.relpath(str(file), posixpath.commonpath(named))
            yield Table.of(StoredTable(file), printable(name), self.columns)


@dataclass(frozen=True, slots=True)
class StoredTable:
    """A Parquet file in an object store."""

    path: ObjectPath

    def open(self) -> BinaryIO:
        """Return a file that reads what is asked for."""
        return cast(BinaryIO, RangedObject(self.path))

    def stamp(self) -> str:
        """Return what changes whenever the file is written."""
        return objects.size_and_version(self.path)[1]

    def __str__(self) -> str:
        return str(self.path)


def _tables(place: ObjectPath) -> list[ObjectPath]:
    found = [place] if place.suffix in SUFFIXES and files.exists(place) else list(_below(place))
    if not found:
        raise InputUnfit(
            f"{place}: no data set of records, and no Parquet file below it: of what is in an object store, only these"
            " are read; copy other files to this machine"
        )
    return found


def _below(folder: ObjectPath) -> Iterator[ObjectPath]:
    """Yield the Parquet files below a folder, as ``find`` does; other programs hide what is not to be read so."""
    for name in sorted(files.sizes(folder)):
        if name.endswith(SUFFIXES) and not name.startswith((".", "_")):
            yield folder / name
    for name in files.folders(folder):
        yield from _below(folder / name)


def _is_records(path: Location) -> bool:
    return files.is_folder(path / "manifest" / "records")


def _records(folder: Location, columns: Columns) -> Iterator[Part]:
    home = folder.resolve()
    shards = records_store(home.parent, home.name).paths("records")
    if not shards:
        raise InputUnfit(f"{folder}: no finished records: `privasis synthesize` goes on with them")
    chosen = RECORDS.model_copy(update={"strata": columns.strata}) if columns.strata else RECORDS
    for file in shards:
        source = StoredTable(file) if isinstance(file, ObjectPath) else file
        yield Table.of(source, f"{home.name}/{file.name}", chosen, is_records=True)
