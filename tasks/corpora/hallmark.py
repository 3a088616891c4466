"""Citations, genuine and made up: HALLMARK (Kim et al., 2026), matched as in SM appendix A.7.

Read: ``dev_public.jsonl``, a BibTeX entry each: ``bibtex_key``, ``fields`` (author, title, year, booktitle or
journal, doi, url), ``label`` (VALID or HALLUCINATED), ``hallucination_type``.

The unit is a whole citation, and a fabricated one is a target from its first to its last character. All are written
out alike: authors, title, venue, year. DOI and URL are left out, for of entries with a venue 48 % of the genuine
and 15 % of the plausible fabrications have one; so are entries without a venue, and braces.
"""

import random
from collections import defaultdict
from pathlib import Path

from tasks.corpora.corpus import Corpus, Split, corpus_of
from tasks.corpora.rows import Row, find, read_rows
from tasks.surprise.documents import Document, Label, Region

FILE = "dev_public.jsonl"
FABRICATED = "plausible_fabrication"
GENUINE = "genuine"


class _Fields(Row):
    author: str
    title: str
    year: str
    booktitle: str | None = None
    journal: str | None = None


class _Entry(Row):
    bibtex_key: str
    fields: _Fields
    label: str
    hallucination_type: str | None = None


def read(folder: Path) -> Corpus:
    """Read all citations that have a venue, with strata ``kind`` (genuine, or the hallucination's type) and ``year``.

    Fields are regions.

    Raises:
        CorpusNotReadable: no such file, or not in the format.
    """
    return corpus_of(read_rows(find(folder, FILE), _Entry), lambda placed: _document(placed.row))


def split(corpus: Corpus, seed: int) -> Split:
    """Match each plausible fabrication with a genuine citation of its year, and give half of the pairs to each side.

    Years are halved one by one, so that both sides have the same years; citations without a partner are left out.

    Raises:
        ValueError: no year has two pairs.
    """
    by_year: dict[str, dict[str, list[Document]]] = defaultdict(lambda: {FABRICATED: [], GENUINE: []})
    for document in corpus.documents:
        if document.strata["kind"] in (FABRICATED, GENUINE):
            by_year[document.strata["year"]][document.strata["kind"]].append(document)
    rng = random.Random(seed)
    validation: list[Document] = []
    application: list[Document] = []
    larger = True  # of years with an odd number of pairs, every other gives validation the odd one
    for year in sorted(by_year):
        fabricated, genuine = by_year[year][FABRICATED], by_year[year][GENUINE]
        pairs = min(len(fabricated), len(genuine))
        half = (pairs + larger) // 2
        larger = larger != (pairs % 2 == 1)
        for kind in (fabricated, genuine):
            drawn = rng.sample(kind, pairs)
            validation += drawn[:half]
            application += drawn[half:]
    if not validation or not application:
        raise ValueError(f"{len(corpus.documents)} citations: no year has two pairs of a fabricated and a genuine one")
    return Split(validation, application)


def _document(entry: _Entry) -> Document:
    fields = entry.fields
    venue = fields.booktitle or fields.journal
    if venue is None:
        raise ValueError("no venue: the citation cannot be written out like the others")
    if entry.label not in ("VALID", "HALLUCINATED"):
        raise ValueError(f"label {entry.label!r}: VALID or HALLUCINATED is expected")
    if entry.label == "HALLUCINATED" and entry.hallucination_type is None:
        raise ValueError("hallucinated, but not how: hallucination_type is missing")
    kind = GENUINE if entry.label == "VALID" else str(entry.hallucination_type)
    text, regions = _written_out({"author": fields.author, "title": fields.title, "venue": venue, "year": fields.year})
    return Document(
        id=entry.bibtex_key,
        text=text,
        labels=() if kind == GENUINE else (Label(0, len(text), kind),),
        labelled=True,
        regions=regions,
        strata={"kind": kind, "year": fields.year},
    )


def _written_out(parts: dict[str, str]) -> tuple[str, tuple[Region, ...]]:
    text, regions = "", []
    for name, value in parts.items():
        clean = " ".join(value.replace("{", "").replace("}", "").split()).rstrip(".")
        if name == "author":  # in BibTeX "and" parts authors; in a title it is a word
            clean = clean.replace(" and ", ", ")
        if not clean:
            raise ValueError(f"{name} is empty")
        regions.append(Region(len(text), len(text) + len(clean), name))
        text += clean + ". "
    return text.rstrip(" "), tuple(regions)
