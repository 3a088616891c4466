"""The blind sheet, which reviewers see, and its key, which they do not.

An item's id is a keyed hash of its text, and the sheet is in the order of ids: neither knows where a text comes from.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from tasks.reviewing.tells import Length, Tell

Source = Literal["synthetic", "human"]
SOURCES: tuple[Source, Source] = ("synthetic", "human")

_ID_BYTES = 5


class SheetUnfit(ValueError):
    """A sheet, its key or what belongs to it cannot be used; the message says why."""


class _Stored(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Item(_Stored):
    """One text to be judged."""

    id: str = Field(pattern=r"^[0-9a-f]{10}$")
    text: str = Field(min_length=1)


class Sheet(_Stored):
    """All that reviewers see."""

    version: Literal[1] = 1
    items: tuple[Item, ...] = Field(min_length=1)

    @model_validator(mode="after")
    def _in_the_order_of_ids(self) -> Self:
        ids = [item.id for item in self.items]
        if ids != sorted(set(ids)):
            raise ValueError("items are not in the order of their ids, or an id stands twice")
        return self

    @property
    def digest(self) -> str:
        """What key and answers name it by: of its whole content."""
        return hashlib.sha256(self.model_dump_json().encode("utf-8", "surrogatepass")).hexdigest()[:16]

    def order_of(self, reviewer: str) -> list[Item]:
        """Return the items in the order in which ``reviewer`` has them: each has an own, and always the same."""
        salt = f"{self.digest}\0{reviewer}\0"
        return sorted(self.items, key=lambda item: hashlib.sha256((salt + item.id).encode()).digest())


class KeyEntry(_Stored):
    """Where an item comes from: the data set or the input, and the record's id or the file and row."""

    id: str
    source: Source
    origin: str
    name: str
    words: int


class Key(_Stored):
    """What tells the sources apart, and how like each other they are on the outside."""

    version: Literal[1] = 1
    sheet: str
    seed: int
    factor: float
    entries: tuple[KeyEntry, ...]
    lengths: tuple[Length, ...]
    longer_share: float
    tells: tuple[Tell, ...]

    def sources(self, sheet: Sheet) -> dict[str, Source]:
        """Return the source of each item of ``sheet``.

        Raises:
            SheetUnfit: it is the key to another sheet.
        """
        found = {entry.id: entry.source for entry in self.entries}
        if self.sheet != sheet.digest or found.keys() != {item.id for item in sheet.items}:
            raise SheetUnfit(f"this is the key to sheet {self.sheet}, the sheet is {sheet.digest}: name its own key")
        return found


@dataclass(frozen=True, slots=True)
class Text:
    """A text that was drawn for the sheet."""

    source: Source
    origin: str
    name: str
    text: str
    words: int


def tidy(text: str) -> str:
    """Return ``text`` without what only tells of the file it was in: byte order mark, line ends, empty edges."""
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n").split("\n")
    lines = [line.rstrip() for line in lines]
    while lines and not lines[0]:
        lines.pop(0)
    while lines and not lines[-1]:
        lines.pop()
    return "\n".join(lines)


def sheet_of(texts: Sequence[Text], seed: int) -> tuple[Sheet, tuple[KeyEntry, ...]]:
    """Make the sheet of ``texts`` and the entries of its key.

    Raises:
        SheetUnfit: two texts are the same.
    """
    found = dict[str, tuple[Item, KeyEntry]]()
    for each in texts:
        body = tidy(each.text)
        name = hashlib.blake2b(body.encode("utf-8", "surrogatepass"), key=str(seed).encode(), digest_size=_ID_BYTES)
        entry = KeyEntry(id=name.hexdigest(), source=each.source, origin=each.origin, name=each.name, words=each.words)
        if entry.id in found:
            twin = found[entry.id][1]
            raise SheetUnfit(
                f"{twin.origin} {twin.name} and {entry.origin} {entry.name} are the same text: take one out, or draw"
                " with another --seed"
            )
        found[entry.id] = (Item(id=entry.id, text=body), entry)
    ordered = [found[name] for name in sorted(found)]
    return Sheet(items=tuple(item for item, _ in ordered)), tuple(entry for _, entry in ordered)
