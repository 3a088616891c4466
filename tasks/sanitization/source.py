"""What sanitization reads of a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tasks.synthesis.attributes import Attribute, Group

COLUMNS = ("record_id", "index", "language", "text", "attributes", "groups")


@dataclass(frozen=True, slots=True)
class Source:
    """A record to be sanitized, with the attributes that stand in its text and the groups of at least two of these.

    What does not stand in a text, or nobody knows where, can neither be taken out of it nor be kept in it.
    """

    record_id: str
    index: int
    language: str
    text: str
    attributes: tuple[Attribute, ...]
    groups: tuple[Group, ...]

    @classmethod
    def of_row(cls, row: Mapping[str, Any]) -> Self:
        """Read the ``COLUMNS`` of a row of ``tasks.records.RECORDS``."""
        read = (
            Attribute(
                each["key"], each["value"], each["source"], tuple((at["start"], at["end"]) for at in each["spans"])
            )
            for each in row["attributes"]
        )
        attributes = tuple(each for each in read if each.grounded and _is_told_apart(each, row["text"]))
        keys = {attribute.key for attribute in attributes}
        groups = (Group(each["name"], tuple(key for key in each["keys"] if key in keys)) for each in row["groups"])
        return cls(
            row["record_id"],
            row["index"],
            row["language"],
            row["text"],
            attributes,
            tuple(group for group in groups if len(group.keys) > 1),
        )


_SHORT = 2  # characters


def _is_told_apart(attribute: Attribute, text: str) -> bool:
    """Whether the places of a value are surely those of the fact: "1" is also the mark of a list, "IN" also a word.

    One or two letters or digits tell the fact where they stand once and are no mark of a list; two letters also where
    they are spelled the same wherever they stand, such as "Al". Scripts that write a name in two signs are no matter.
    """
    value, spans = attribute.value, attribute.spans
    if len(value) > _SHORT or not value.isascii():
        return True
    if len(spans) == 1:
        return not _marks_an_item(text, *spans[0])
    return len(value) == _SHORT and value.isalpha() and all(text[start:stop] == value for start, stop in spans)


def _marks_an_item(text: str, start: int, stop: int) -> bool:
    before = text[:start].rpartition("\n")[2]
    return not before.strip(" \t(") and text[stop : stop + 1] in (".", ")")
