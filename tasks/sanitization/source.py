"""What sanitization reads of a record."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tasks.synthesis.attributes import Attribute, Group

COLUMNS = ("record_id", "index", "language", "text", "attributes", "groups")


@dataclass(frozen=True, slots=True)
class Source:
    """A record to be sanitized, with the attributes that stand in its text and the groups of at least two of these.

    What does not stand in a text can neither be taken out of it nor be kept in it.
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
        attributes = tuple(
            Attribute(
                each["key"], each["value"], each["source"], tuple((at["start"], at["end"]) for at in each["spans"])
            )
            for each in row["attributes"]
            if each["grounded"]
        )
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
