"""Documents that must follow a disclosure policy: RedacBench (2026; SM appendix A.6). For users who have its files.

Read: JSON Lines as its playground imports and exports them, a document each: ``id``, ``texts`` (the one labelled
``original`` or, without labels, the first), ``policy``, and ``qa``: a question ``q``, its answer ``a`` and whether
the policy wants it ``redact``-ed. It has no spans: what is disclosed is judged. Answers to be redacted that stand in
the text word for word are labelled; as others may be there too, the documents do not count as labelled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tasks.corpora.corpus import Corpus, corpus_of
from tasks.corpora.rows import Placed, Row, read_rows
from tasks.corpora.verbatim import occurrences
from tasks.surprise.documents import Document


class _Text(Row):
    text: str
    label: str | None = None


class _Question(Row):
    q: str
    a: str
    redact: bool


class _Item(Row):
    id: str
    texts: list[_Text]
    policy: str
    qa: list[_Question]


@dataclass(frozen=True)
class Proposition:
    """One piece of information of a document; a sensitive one must go, another must stay."""

    question: str
    answer: str
    sensitive: bool


@dataclass(frozen=True)
class Policed:
    """Documents with their policies.

    Attributes:
        corpus: the original texts.
        policies: document id to its policy, which the compliant prompt states (SM D.4).
        propositions: document id to what its text discloses.
    """

    corpus: Corpus
    policies: Mapping[str, str]
    propositions: Mapping[str, tuple[Proposition, ...]]


def read(path: Path) -> Policed:
    """Read one file.

    Raises:
        CorpusNotReadable: not in the format.
    """
    rows = read_rows(path, _Item)
    corpus = corpus_of(rows, _document)
    kept = {document.id for document in corpus.documents}
    items = {placed.row.id: placed.row for placed in reversed(rows.rows) if placed.row.id in kept}  # of two, the first
    return Policed(
        corpus,
        {name: item.policy for name, item in items.items()},
        {
            name: tuple(Proposition(question.q, question.a, question.redact) for question in item.qa)
            for name, item in items.items()
        },
    )


def _document(placed: Placed[_Item]) -> Document:
    item = placed.row
    originals = [text for text in item.texts if text.label in (None, "original")]
    if not originals:
        raise ValueError("no text is labelled 'original'")
    text = originals[0].text
    hidden = [("sensitive", question.a) for question in item.qa if question.redact]
    return Document(id=item.id, text=text, labels=occurrences(text, hidden))
