"""Short ways to an input for the tests of this folder."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tasks.surprise.documents import Chat, Document
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.find import Format, parts_of
from tasks.surprise.reading.input import Input, Reject, read

Item = Document | Chat | Reject


def input_of(*paths: Path, format: Format = "auto", suffixes: tuple[str, ...] = (), **columns: Any) -> Input:
    return Input(parts_of(paths, format, suffixes, Columns(**columns)))


def items_of(*paths: Path, format: Format = "auto", suffixes: tuple[str, ...] = (), **columns: Any) -> list[Item]:
    """Every row of the input; none may be lost."""
    found = input_of(*paths, format=format, suffixes=suffixes, **columns)
    items = read(found.slices(0, found.rows)).items
    assert len(items) == found.rows
    return list(items)


def reasons(items: list[Item]) -> Mapping[str, str]:
    """What became of each row by its id: a reason, or its text."""
    told = {}
    for item in items:
        match item:
            case Reject():
                told[item.document_id] = item.reason
            case Document():
                told[item.id] = item.text
            case Chat():
                told[item.id] = "|".join(turn.content for turn in item.turns)
    return told
