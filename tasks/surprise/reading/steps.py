"""Opens an input that may hold data sets of the factory itself: their manifests say which files count."""

from collections.abc import Iterator
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
from tasks.surprise.reading.tables import Table
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
        if in_store := [path for path in others if isinstance(path, ObjectPath)]:
            raise InputUnfit(
                f"{in_store[0]}: no data set of records: of what is in an object store, only these are read; copy other"
                " files to this machine"
            )
        if others:
            parts += parts_of(
                [path for path in others if isinstance(path, Path)], self.format, self.suffixes, self.columns
            )
        return Input(parts)


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
