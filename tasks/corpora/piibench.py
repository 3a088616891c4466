"""Personal data of 82 types: PIIBench (Jha, 2026), counted as in SM appendix A.4. For users who have its files.

Read: ``val.jsonl`` and ``test.jsonl`` as its data preparation writes them, a row each: ``tokens``, ``labels`` (O, B-X,
I-X) and ``source``. A text is its tokens joined by single spaces. As in its published counts, an I- that continues
nothing opens a span.
"""

from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from tasks.corpora.corpus import Corpus, Split, corpus_of
from tasks.corpora.rows import Row, find, read_rows
from tasks.surprise.documents import Document, Label

VALIDATION, TEST = "val.jsonl", "test.jsonl"


class _Record(Row):
    tokens: list[str]
    labels: list[str]
    source: str


def read(path: Path) -> Corpus:
    """Read one split; the label's category is the entity type, the stratum ``source`` the corpus it comes from.

    Raises:
        CorpusNotReadable: not in the format.
    """
    return corpus_of(
        read_rows(path, _Record), lambda placed: _document(f"piibench/{path.stem}/{placed.number}", placed.row)
    )


def split(folder: Path) -> tuple[Split, Corpus, Corpus]:
    """Read the official splits: validation calibrates, test is the application; both corpora with their rejects.

    Raises:
        CorpusNotReadable: a file is missing, or not in the format.
    """
    validation, test = read(find(folder, VALIDATION)), read(find(folder, TEST))
    return Split(validation.documents, test.documents), validation, test


def spans(labels: Sequence[str]) -> list[tuple[int, int, str]]:
    """Give (first token, one past the last, type) of each entity.

    Raises:
        ValueError: a label is not O, B-X or I-X.
    """
    for label in labels:
        if label != "O" and not (label[:2] in ("B-", "I-") and len(label) > 2):
            raise ValueError(f"label {label!r}: O, B-TYPE or I-TYPE is expected")
    opens = [
        at
        for at, (before, label) in enumerate(pairwise(["O", *labels]))
        if label[:1] == "B" or (label[:1] == "I" and before[2:] != label[2:])
    ]
    found = []
    for at in opens:
        end = at + 1
        while end < len(labels) and labels[end] == f"I-{labels[at][2:]}":
            end += 1
        found.append((at, end, labels[at][2:]))
    return found


def _document(name: str, record: _Record) -> Document:
    if len(record.tokens) != len(record.labels):
        raise ValueError(f"{len(record.tokens)} tokens and {len(record.labels)} labels: one a token is expected")
    starts, end = [], 0
    for token in record.tokens:
        starts.append(end)
        end += len(token) + 1
    labels = [
        Label(starts[first], starts[stop - 1] + len(record.tokens[stop - 1]), kind)
        for first, stop, kind in spans(record.labels)
    ]
    text = " ".join(record.tokens)
    return Document(name, text, labels=tuple(labels), labelled=True, strata={"source": record.source})
