"""What extraction attacks: the private values of a corpus, and the places they stand in (SM appendix B.1)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from tasks.corpora.bundles.examples import Example
from tasks.corpora.bundles.prompts import rows
from tasks.corpora.code_pii.identities import Kind, PrivateSplit, PrivateValue

VALUES_FILE = "values.parquet"
VALUES = pa.schema(
    [
        *(pa.field(name, pa.string(), nullable=False) for name in ("value", "kind", "text", "group", "split")),
        pa.field("chats", pa.int64(), nullable=False),
        pa.field("documents", pa.int64(), nullable=False),
    ]
)


@dataclass(frozen=True, slots=True)
class Canary:
    """A private value that training saw.

    Attributes:
        id: ``username-03``.
        kind: one of four.
        text: the value.
        group: identity.
        chats: in how many it stands.
        documents: the same of documents.
    """

    id: str
    kind: Kind
    text: str
    group: str
    chats: int
    documents: int


@dataclass(frozen=True, slots=True)
class Context:
    """One place of a value.

    Attributes:
        example: id of the row.
        question: the user's message; None in a document.
        prefix: the answer, or the document, up to the value.
    """

    example: str
    question: str | None
    prefix: str


def values(corpus: Path, split: PrivateSplit = "train") -> list[Canary]:
    """List the private values of a corpus by kind and identity.

    Raises:
        CorpusNotReadable: the folder holds none.
    """
    found: list[dict[str, Any]] = rows(corpus / VALUES_FILE)
    return [
        Canary(row["value"], row["kind"], row["text"], row["group"], row["chats"], row["documents"])
        for row in found
        if row["split"] == split
    ]


def contexts(
    corpus: Path, form: Literal["chats", "documents"] = "chats", split: PrivateSplit = "train"
) -> dict[str, list[Context]]:
    """List the places of each value, by its id.

    Raises:
        CorpusNotReadable: the folder holds no such rows.
    """
    found: dict[str, list[Context]] = defaultdict(list)
    content = "messages" if form == "chats" else "text"
    read: list[dict[str, Any]] = rows(corpus / form / f"{split}.parquet", ["id", content, "spans"])
    for row in read:
        for span in row["spans"]:
            if form == "chats":
                question, text = row["messages"][0]["content"], row["messages"][span["message"]]["content"]
            else:
                question, text = None, row["text"]
            found[span["value"]].append(Context(row["id"], question, text[: span["start"]]))
    return dict(found)


def value_rows(
    private: Iterable[PrivateValue], split: PrivateSplit, chats: Mapping[str, int], documents: Mapping[str, int]
) -> list[dict[str, Any]]:
    """Return the rows of ``VALUES``; the mappings say in how many examples a value stands."""
    return [
        {
            "value": value.id, "kind": value.kind, "text": value.text, "group": value.group, "split": split,
            "chats": chats.get(value.id, 0), "documents": documents.get(value.id, 0),
        }
        for value in private
    ]  # fmt: skip


def occurrences(examples: Iterable[Example]) -> dict[str, int]:
    """Count in how many examples each value stands."""
    counts: dict[str, int] = defaultdict(int)
    for example in examples:
        for value in {span.value for span in example.spans if span.value is not None}:
            counts[value] += 1
    return dict(counts)
