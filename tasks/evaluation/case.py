"""What a sanitizer is given and judged by: a text, a request, what was to go and what was to stay."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from tasks.synthesis.attributes import Attribute

RECORD_COLUMNS = ("record_id", "domain", "attributes")
TRIPLET_COLUMNS = ("record_id", "index", "language", "text", "instruction", "sanitized", "targets", "retained")

Place = tuple[str, int]
"""A fact that was to go: id of the record, and its number among the targets of the case."""

SHORT = 2  # code points; such values stand in most texts by chance


class EmptyValue(ValueError):
    """An attribute without a value, which would stand in every text; the message names record and key."""


@dataclass(frozen=True, slots=True)
class Fact:
    """An attribute that was to go, or to stay.

    Attributes:
        target: its place among the targets; None where it was to stay.
    """

    key: str
    value: str
    target: int | None = None

    @property
    def name(self) -> str:
        """The key, in words."""
        return self.key.replace("_", " ")

    @property
    def short(self) -> bool:
        """Whether its value has one or two characters."""
        return len(self.value.strip()) <= SHORT


@dataclass(frozen=True, slots=True)
class Case:
    """One record of an evaluation.

    Attributes:
        text: the original.
        by_pipeline: the triplet's own clean text.
        attributes: all that stand in the text, for the baseline that masks them.
        targets: what the request asks to hide, attribute by attribute.
        retained: what it asks to keep.
    """

    record_id: str
    index: int
    language: str
    domain: str | None
    text: str
    instruction: str
    by_pipeline: str
    attributes: tuple[Attribute, ...]
    targets: tuple[Fact, ...]
    retained: tuple[Fact, ...]

    @classmethod
    def of_rows(cls, triplet: Mapping[str, Any], record: Mapping[str, Any]) -> Self:
        """Read the ``TRIPLET_COLUMNS`` of a triplet and the ``RECORD_COLUMNS`` of its record.

        Targets that the request does not ask for, because an earlier one had taken them along, are left out: nobody
        can be judged by what was not asked.

        Raises:
            EmptyValue: an attribute has no value.
        """
        targets = tuple(
            _fact(triplet["record_id"], each, number)
            for number, target in enumerate(triplet["targets"])
            if any(work["edits"] for work in target["passes"])
            for each in target["attributes"]
        )
        return cls(
            record_id=triplet["record_id"],
            index=triplet["index"],
            language=triplet["language"],
            domain=record["domain"],
            text=triplet["text"],
            instruction=triplet["instruction"],
            by_pipeline=triplet["sanitized"],
            attributes=tuple(
                Attribute(
                    each["key"], each["value"], each["source"], tuple((at["start"], at["end"]) for at in each["spans"])
                )
                for each in record["attributes"]
            ),
            targets=targets,
            retained=tuple(_fact(triplet["record_id"], each, None) for each in triplet["retained"]),
        )


def _fact(record_id: str, attribute: Mapping[str, str], target: int | None) -> Fact:
    if not attribute["value"].strip():
        raise EmptyValue(
            f"{record_id}: attribute {attribute['key']!r} has an empty value, which stands in every text: sanitize this"
            " record again"
        )
    return Fact(attribute["key"], attribute["value"], target)
