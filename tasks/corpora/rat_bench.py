"""Transcripts from which a person may be identified: RAT-Bench (2026; SM appendix A.6). For users who have its files.

Read: ``level_1.jsonl`` to ``level_3.jsonl`` of its ``benchmark`` folder, a row each: ``id``, ``text``, ``scenario``,
``difficulty`` (1 values stand in the text, 2 in disguise, 3 implied), ``direct_identifiers`` and
``indirect_identifiers`` as attribute to value. It has no spans: an attacker decides. Values that stand in the text
word for word are labelled; as others may be there too, the documents do not count as labelled.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tasks.corpora.corpus import Corpus, corpus_of
from tasks.corpora.rows import Placed, Row, find, read_rows
from tasks.corpora.verbatim import occurrences
from tasks.surprise.documents import Document

_STATE = "ST"  # "Oregon/OR": the name, and the code, which whatever its case is a common word
FILES = {level: f"level_{level}.jsonl" for level in (1, 2, 3)}


class _Profile(Row):
    id: int
    text: str
    scenario: str
    difficulty: int
    direct_identifiers: dict[str, str]
    indirect_identifiers: dict[str, str]


@dataclass(frozen=True)
class Transcripts:
    """One level.

    Attributes:
        corpus: the transcripts, with strata ``level`` and ``scenario``.
        identifiers: document id to attribute to value, what an attacker is after.
    """

    corpus: Corpus
    identifiers: Mapping[str, Mapping[str, str]]


def read(folder: Path, level: int) -> Transcripts:
    """Read one level.

    Raises:
        CorpusNotReadable: no such file, or not in the format.
        ValueError: the level is not 1, 2 or 3.
    """
    if level not in FILES:
        raise ValueError(f"level {level}: RAT-Bench has levels 1, 2 and 3")
    rows = read_rows(find(folder, FILES[level]), _Profile)
    return Transcripts(corpus_of(rows, _document), {_name(placed.row): _values(placed.row) for placed in rows.rows})


def _name(profile: _Profile) -> str:
    return f"rat-bench/level_{profile.difficulty}/{profile.id}"


def _values(profile: _Profile) -> dict[str, str]:
    return profile.indirect_identifiers | profile.direct_identifiers


def _document(placed: Placed[_Profile]) -> Document:
    profile = placed.row
    values = [(name, value.partition("/")[0] if name == _STATE else value) for name, value in _values(profile).items()]
    return Document(
        id=_name(profile),
        text=profile.text,
        labels=occurrences(profile.text, values),
        strata={"level": str(profile.difficulty), "scenario": profile.scenario},
    )
