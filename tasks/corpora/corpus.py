"""What a reader of a benchmark gives, and how documents are split into validation and application."""

import random
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tasks.corpora.rows import Placed, Reject, Rows, RowT
from tasks.surprise.documents import Document


@dataclass(frozen=True)
class Corpus:
    """A benchmark's documents, in its order, and the rows that could not be used."""

    documents: Sequence[Document]
    rejects: Sequence[Reject] = ()


def corpus_of(read: Rows[RowT], make: Callable[[Placed[RowT]], Document]) -> Corpus:
    """Make each row a document; one that cannot be made (``ValueError``), or has an id given before, is rejected."""
    documents: dict[str, Document] = {}
    rejects = list(read.rejects)
    for placed in read.rows:
        try:
            document = make(placed)
        except ValueError as error:
            rejects.append(Reject(placed.place, str(error)))
            continue
        if document.id in documents:
            rejects.append(Reject(placed.place, f"id {document.id!r} was given to a row before: ids are unique"))
        else:
            documents[document.id] = document
    return Corpus(list(documents.values()), rejects)


@dataclass(frozen=True)
class Split:
    """What a threshold is calibrated on, and what it is then used on."""

    validation: Sequence[Document]
    application: Sequence[Document]


def split_by(documents: Sequence[Document], unit: Callable[[Document], str], seed: int, share: float = 0.5) -> Split:
    """Split so that no unit (a repository, a template) is on both sides.

    Units are drawn in random order into the validation part until it holds ``share`` of the documents; the last one is
    drawn only where that brings it nearer.

    Raises:
        ValueError: fewer than two units, which cannot be split.
    """
    members: dict[str, list[Document]] = defaultdict(list)
    for document in documents:
        members[unit(document)].append(document)
    if len(members) < 2:
        raise ValueError(f"{len(documents)} documents of {len(members)} unit cannot be split: two units are needed")
    names = sorted(members)
    random.Random(seed).shuffle(names)
    wanted = share * len(documents)
    chosen: set[str] = set()
    held = 0
    for name in names[:-1]:  # the last is left for application, whatever its size
        size = len(members[name])
        if chosen and abs(held + size - wanted) >= abs(held - wanted):
            break
        chosen.add(name)
        held += size
    return Split(
        [document for document in documents if unit(document) in chosen],
        [document for document in documents if unit(document) not in chosen],
    )
