"""Labels that come in a file of their own, beside the scores."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from tasks.surprise.documents import Document, Label

COLUMNS = ("document_id", "start", "end")


class LabelsUnfit(ValueError):
    """A row of a label file is no label of these documents; the message names it."""


def with_labels(documents: Sequence[Document], rows: Iterable[Mapping[str, Any]]) -> list[Document]:
    """Give documents the labels of a file in place of their own.

    A row is one span: ``document_id``, ``start``, ``end`` (code points, half-open), and perhaps ``category``. The file
    speaks of all documents: one that it does not name holds nothing private.

    Raises:
        LabelsUnfit: a row names no document of these, or no interval of its text; its place is given.
    """
    places = {document.id: place for place, document in enumerate(documents)}
    labels: list[list[Label]] = [[] for _ in documents]
    for number, row in enumerate(rows):
        missing = [column for column in COLUMNS if row.get(column) is None]
        if missing:
            raise LabelsUnfit(f"row {number}: no {missing[0]}; a row needs {', '.join(COLUMNS)}, and may have category")
        document_id = str(row["document_id"])
        if document_id not in places:
            raise LabelsUnfit(f"row {number}: document {document_id!r} is not among the scored ones")
        place = places[document_id]
        try:
            label = Label(int(row["start"]), int(row["end"]), str(row.get("category") or "private"))
            labels[place].append(label)
            replace(documents[place], labels=(label,))  # checks that it lies in the text
        except ValueError as error:
            raise LabelsUnfit(f"row {number}: {error}") from error
    return [
        replace(document, labels=tuple(sorted(found, key=lambda each: (each.start, each.end))), labelled=True)
        for document, found in zip(documents, labels, strict=True)
    ]
