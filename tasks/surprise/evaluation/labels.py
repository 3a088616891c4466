"""Labels that come in a file of their own, beside the scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tasks.surprise.documents import Document, Label

COLUMNS = ("document_id", "start", "end")


class LabelsUnfit(ValueError):
    """A row of a label file is no label of these documents; the message names it."""


@dataclass(frozen=True, slots=True)
class LabelRow:
    """A row of a label file: a span of a document that may not have been read yet."""

    number: int
    start: int
    end: int
    category: str


Labels = Mapping[str, Sequence[LabelRow]]  # by document


def by_document(rows: Iterable[Mapping[str, Any]]) -> Labels:
    """Sort the rows of a label file by their documents.

    A row is one span: ``document_id``, ``start``, ``end`` (code points, half-open), and perhaps ``category``.

    Raises:
        LabelsUnfit: a row lacks something, or its offsets are no whole numbers; its place is given.
    """
    labels: dict[str, list[LabelRow]] = {}
    for number, row in enumerate(rows):
        missing = [column for column in COLUMNS if row.get(column) is None]
        if missing:
            raise LabelsUnfit(f"row {number}: no {missing[0]}; a row needs {', '.join(COLUMNS)}, and may have category")
        start, end = row["start"], row["end"]
        if not all(isinstance(bound, int) and not isinstance(bound, bool) for bound in (start, end)):
            raise LabelsUnfit(f"row {number}: start and end are whole numbers, code points of the text")
        found = LabelRow(number, start, end, str(row.get("category") or "private"))
        labels.setdefault(str(row["document_id"]), []).append(found)
    return labels


def check_known(labels: Labels, ids: Iterable[str]) -> None:
    """Refuse labels of documents that are not among the scored ones.

    Raises:
        LabelsUnfit: there are some; the first is named.
    """
    unknown = labels.keys() - set(ids)
    if unknown:
        number, name = min((labels[name][0].number, name) for name in unknown)
        raise LabelsUnfit(
            f"row {number}: document {name!r} is not among the scored ones: its id is that of `score --id-column`,"
            " or the name of file and row that `score` gave"
        )


def with_labels(documents: Sequence[Document], labels: Labels) -> list[Document]:
    """Give documents the labels of a file in place of their own.

    The file speaks of all documents: one that it does not name holds nothing private.

    Raises:
        LabelsUnfit: a row is no interval of its text; its place is given.
    """
    return [
        replace(document, labels=tuple(_of_document(document, labels.get(document.id, ()))), labelled=True)
        for document in documents
    ]


def _of_document(document: Document, rows: Sequence[LabelRow]) -> list[Label]:
    found = []
    for row in rows:
        try:
            label = Label(row.start, row.end, row.category)
            replace(document, labels=(label,))  # checks that it lies in the text
        except ValueError as error:
            raise LabelsUnfit(f"row {row.number}: {error}") from error
        found.append(label)
    return sorted(found, key=lambda each: (each.start, each.end))
