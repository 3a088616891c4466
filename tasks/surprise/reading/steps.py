"""Opens an input that may hold data sets of the factory itself: their manifests say which files count."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from tasks.surprise.reading.columns import RECORDS, Columns
from tasks.surprise.reading.find import Format, parts_of
from tasks.surprise.reading.input import Input
from tasks.surprise.reading.raw import InputUnfit, Part
from tasks.surprise.reading.tables import Table
from tasks.synthesis.steps import records_store


class InputConfig(BaseModel):
    """What is to be scored."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: tuple[Path, ...] = Field(min_length=1, description="files, folders, patterns, data sets of records")
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
        if files := [path for path in self.paths if path not in sets]:
            parts += parts_of(files, self.format, self.suffixes, self.columns)
        return Input(parts)


def _is_records(path: Path) -> bool:
    return (path / "manifest" / "records").is_dir()


def _records(folder: Path, columns: Columns) -> Iterator[Part]:
    home = folder.resolve()
    shards: Sequence[Path] = records_store(home.parent, home.name).paths("records")
    if not shards:
        raise InputUnfit(f"{folder}: no finished records: `privasis synthesize` goes on with them")
    chosen = RECORDS.model_copy(update={"strata": columns.strata}) if columns.strata else RECORDS
    for file in shards:
        yield Table.of(file, f"{home.name}/{file.name}", chosen, is_records=True)
