"""Personal data in short English texts: the synthetic sample of presidio-research, in place of PIIBench (SM A.4).

Read: ``synth_*.json``, one array: ``full_text``, ``spans`` of ``entity_type``, ``start_position``, ``end_position``
(code points) and ``entity_value``, ``template_id``. The texts are filled templates, so a template is on one side of
the split alone.
"""

from pathlib import Path

from tasks.corpora.corpus import Corpus, Split, corpus_of, split_by
from tasks.corpora.rows import Row, find, read_rows
from tasks.surprise.documents import Document, Label

FILE = "synth_first_750.json"


class _Span(Row):
    entity_type: str
    entity_value: str
    start_position: int
    end_position: int


class _Text(Row):
    full_text: str
    spans: list[_Span]
    template_id: int


def read(folder: Path) -> Corpus:
    """Read the texts; the label's category is the entity type, the stratum ``template`` the template's number.

    Raises:
        CorpusNotReadable: no such file, or not in the format.
    """
    return corpus_of(read_rows(find(folder, FILE), _Text), lambda placed: _document(placed.number, placed.row))


def split(corpus: Corpus, seed: int) -> Split:
    """Split by template, half of the texts each."""
    return split_by(corpus.documents, lambda document: document.strata["template"], seed)


def _document(number: int, row: _Text) -> Document:
    for span in row.spans:
        if row.full_text[span.start_position : span.end_position] != span.entity_value:
            raise ValueError(f"[{span.start_position}, {span.end_position}) is not the value: are the offsets bytes?")
    return Document(
        id=f"presidio-research/{number}",
        text=row.full_text,
        labels=tuple(Label(span.start_position, span.end_position, span.entity_type) for span in row.spans),
        labelled=True,
        strata={"template": str(row.template_id)},
    )
