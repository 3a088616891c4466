"""Reading the files of public benchmarks: a row that is not in the published format is set aside with its reason."""

import gzip
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

_GZIP = b"\x1f\x8b"


class CorpusNotReadable(ValueError):
    """There is no such file, or none of its rows is in the published format."""


@dataclass(frozen=True, slots=True)
class Reject:
    """A row that cannot be used: where it is and why, without what is in it."""

    place: str
    reason: str


class Row(BaseModel):
    """A row in the published format; what else it has is not read."""

    model_config = ConfigDict(frozen=True, extra="ignore", strict=True)


RowT = TypeVar("RowT", bound=Row)


@dataclass(frozen=True)
class Placed(Generic[RowT]):
    """A row, its number in the file (from 0, blank lines left out), and its place for a message."""

    number: int
    place: str
    row: RowT


@dataclass(frozen=True)
class Rows(Generic[RowT]):
    """The rows of one file in its order, and those not in the format."""

    rows: Sequence[Placed[RowT]]
    rejects: Sequence[Reject]


def find(folder: Path, *names: str) -> Path:
    """Find the first of ``names`` that is in a folder or directly in one of its folders.

    Raises:
        CorpusNotReadable: none is, or several folders have it.
    """
    if not folder.is_dir():
        raise CorpusNotReadable(f"{folder}: no such folder: give the folder that holds {' or '.join(names)}")
    for name in names:
        if (folder / name).is_file():
            return folder / name
        found = sorted(folder.glob(f"*/{name}"))
        if len(found) > 1:
            raise CorpusNotReadable(f"{folder}: {name} is in {len(found)} folders: give the one to read")
        if found:
            return found[0]
    raise CorpusNotReadable(f"{folder}: no {' or '.join(names)} in it or in one of its folders: is it another folder?")


def read_rows(path: Path, model: type[RowT]) -> Rows[RowT]:
    """Read a JSON Lines file, gzip or not, or (``.json``) one JSON array.

    Raises:
        CorpusNotReadable: not UTF-8, no such array, or no row that is in the format.
    """
    rows: list[Placed[RowT]] = []
    rejects: list[Reject] = []
    try:
        for number, (place, text) in enumerate(_texts(path)):
            try:
                rows.append(Placed(number, place, model.model_validate_json(text)))
            except ValidationError as error:
                rejects.append(Reject(place, _reason(error)))
    except (UnicodeDecodeError, gzip.BadGzipFile, EOFError, json.JSONDecodeError) as error:
        raise CorpusNotReadable(f"{path}: damaged, or not what its name says: {error}") from error
    if not rows:
        first = f"; {rejects[0].place}: {rejects[0].reason}" if rejects else ""
        raise CorpusNotReadable(f"{path}: none of {len(rejects)} rows is in the published format{first}")
    return Rows(rows, rejects)


def _texts(path: Path) -> Iterator[tuple[str, str]]:
    """Give (place, JSON text) of each row; only LF ends a line, for a JSON string may hold U+2028."""
    content = path.read_bytes()
    if content.startswith(_GZIP):
        content = gzip.decompress(content)
    text = content.decode("utf-8")
    if path.suffix == ".json":
        array = json.loads(text)
        if not isinstance(array, list):
            raise CorpusNotReadable(f"{path}: an array of rows is expected, this is a {type(array).__name__}")
        for number, row in enumerate(array):
            yield f"{path.name}: row {number}", json.dumps(row)
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            yield f"{path.name}: line {number}", line


def _reason(error: ValidationError) -> str:
    details = error.errors(include_url=False, include_input=False, include_context=False)
    return "; ".join(f"{'.'.join(map(str, detail['loc'])) or 'row'}: {detail['msg']}" for detail in details)
