"""One record, ready to be shown: the same for a page and a terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tasks.report.marks import segments

UNGROUPED = 0  # the number of the attributes that no group took


@dataclass(frozen=True, slots=True)
class GroupView:
    """A group and its number, by which its attributes are recognised where there is no colour."""

    number: int
    name: str
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class AttributeView:
    """An attribute, the numbers of its groups, and whether it stands in the text."""

    key: str
    value: str
    source: str
    grounded: bool
    groups: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text that is shown in one way.

    Attributes:
        text: its characters.
        keys: the attributes on it, outermost first; empty for plain text.
        inner: number of the first group of the innermost attribute: the colour of the stretch.
        outer: the same of the outermost attribute, for the line beneath it.
        opens: a run of marked text begins here.
        closes: a run ends here.
        numbers: where a run ends, all groups in it.
    """

    text: str
    keys: tuple[str, ...] = ()
    inner: int = UNGROUPED
    outer: int = UNGROUPED
    opens: bool = False
    closes: bool = False
    numbers: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class RecordView:
    """What is shown of a row of ``tasks.records.RECORDS``."""

    record_id: str
    title: str
    model: str
    language: str
    domain: str
    subcategory: str
    words: int
    context: str
    format: str | None
    pieces: tuple[Piece, ...]
    groups: tuple[GroupView, ...]
    attributes: tuple[AttributeView, ...]

    @property
    def has_ungrouped(self) -> bool:
        """Whether the legend needs a line for attributes without a group."""
        return any(not attribute.groups for attribute in self.attributes)


def view(row: Mapping[str, Any]) -> RecordView:
    """Prepare a row of the records table.

    Raises:
        ValueError: a span lies outside the text; the message names the record.
    """
    groups = tuple(
        GroupView(number, group["name"] or "", tuple(group["keys"] or ()))
        for number, group in enumerate(row["groups"] or (), start=1)
    )
    attributes = tuple(_attribute(attribute, groups) for attribute in row["attributes"] or ())
    return RecordView(
        record_id=row["record_id"],
        title=row["record_type"] or row["event"]["name"] or row["domain"],
        model=row["model"],
        language=row["language"],
        domain=row["domain"],
        subcategory=row["subcategory"],
        words=row["words"],
        context=row["context"],
        format=row["format"],
        pieces=_pieces(row, attributes),
        groups=groups,
        attributes=attributes,
    )


def _attribute(attribute: Mapping[str, Any], groups: Sequence[GroupView]) -> AttributeView:
    key = attribute["key"] or ""
    numbers = tuple(group.number for group in groups if key in group.keys)
    return AttributeView(key, attribute["value"] or "", attribute["source"] or "", bool(attribute["grounded"]), numbers)


def _pieces(row: Mapping[str, Any], attributes: Sequence[AttributeView]) -> tuple[Piece, ...]:
    spans = [
        [(span["start"], span["end"]) for span in attribute["spans"] or ()] for attribute in row["attributes"] or ()
    ]
    try:
        cut = segments(row["text"], spans)
    except ValueError as error:
        raise ValueError(f"record {row['record_id']}: {error}") from error
    first_group = [attribute.groups[0] if attribute.groups else UNGROUPED for attribute in attributes]
    return tuple(
        Piece(segment.text)
        if not segment.attributes
        else Piece(
            segment.text,
            keys=tuple(attributes[position].key for position in segment.attributes),
            inner=first_group[segment.attributes[-1]],
            outer=first_group[segment.attributes[0]],
            opens=segment.opens,
            closes=segment.closes,
            numbers=tuple(dict.fromkeys(first_group[position] for position in segment.run)),
        )
        for segment in cut
    )
