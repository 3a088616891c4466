"""Credentials in source code: contexts cut from CredData (Yun et al., 2021), counted as in SM appendix A.3.

Read: ``contexts.jsonl``, a row each: ``id``, ``repo``, ``file``, ``gt`` (T a true credential, F a false one, X
ambiguous, of the line that the context was cut around), ``category``, ``text``, ``targets`` as [start, end, category]
in code points. Every character inside a true credential is a target; those of false and ambiguous anchors, code and
prose are not. Labels overlap: what is counted is their union.
"""

from pathlib import Path, PurePosixPath

from tasks.corpora.corpus import Corpus, Split, corpus_of, split_by
from tasks.corpora.rows import Row, find, read_rows
from tasks.surprise.documents import Document, Label

FILE = "contexts.jsonl"

# Most telling first: "Auth:Secret:Token" is authorization. The families of SM Table 12, and UUIDs by themselves.
_FAMILIES = {
    "url credentials": ("URL Credentials",),
    "service": ("AWS", "Azure", "Dropbox", "Firebase", "Grafana", "Slack", "OTP", "JSON Web Token"),
    "authorization": ("Auth", "Authorization"),
    "password": ("Password",),
    "api key": ("API", "Key"),
    "token": ("Token",),
    "uuid": ("UUID",),
}
_OTHER_FAMILY = "secret"

_LANGUAGES = {
    "py": "python", "js": "javascript", "mjs": "javascript", "jsx": "javascript", "ts": "typescript", "go": "go",
    "rb": "ruby", "scala": "scala", "java": "java", "sh": "shell", "sql": "sql", "html": "html", "slim": "html",
    "json": "json", "yml": "yaml", "md": "text", "rst": "text", "diff": "text",
}  # fmt: skip
_OTHER_LANGUAGE = "config"  # .env, .ini, .conf, certificates, files without a suffix
_REGIMES = {
    "frontend": {"javascript", "typescript", "html"},
    "backend": {"python", "go", "ruby", "scala", "java", "shell", "sql"},
}
_OTHER_REGIME = "text and config"


class _Context(Row):
    id: str
    repo: str
    file: str
    gt: str
    category: str
    text: str
    targets: list[tuple[int, int, str]]


def read(folder: Path) -> Corpus:
    """Read the contexts with strata ``repository``, ``path``, ``language``, ``regime``, ``category`` and ``truth``.

    Labels are disjoint, their category is the family; the stratum ``category`` is that of the context's anchor.

    Raises:
        CorpusNotReadable: no such file, or not in the format.
    """
    return corpus_of(read_rows(find(folder, FILE), _Context), lambda placed: _document(placed.row))


def split(corpus: Corpus, seed: int) -> Split:
    """Split by repository, half of the contexts each (SM A.3)."""
    return split_by(corpus.documents, lambda document: document.strata["repository"], seed)


def family(category: str) -> str:
    """Give the family of a category such as ``Auth:Secret:Token``: the most telling of its parts decides."""
    parts = category.split(":")
    for name, starts in _FAMILIES.items():
        if any(part.startswith(starts) or part.endswith(starts) for part in parts):
            return name
    return _OTHER_FAMILY


def language(file: str) -> str:
    """Tell the language of a file by its suffix."""
    return _LANGUAGES.get(PurePosixPath(file).suffix.removeprefix("."), _OTHER_LANGUAGE)


def regime(of_language: str) -> str:
    """Give the group of languages that SM Table 12 transfers between."""
    return next((name for name, members in _REGIMES.items() if of_language in members), _OTHER_REGIME)


def union(labels: list[Label]) -> tuple[Label, ...]:
    """Join labels that overlap into one, of the category of the first; what is left is disjoint and in order."""
    joined: list[Label] = []
    for label in sorted(labels, key=lambda label: (label.start, -label.end)):
        if joined and label.start < joined[-1].end:
            last = joined.pop()
            label = Label(last.start, max(last.end, label.end), last.category)
        joined.append(label)
    return tuple(joined)


def _document(context: _Context) -> Document:
    of_language = language(context.file)
    return Document(
        id=context.id,
        text=context.text,
        labels=union([Label(start, end, family(category)) for start, end, category in context.targets]),
        labelled=True,
        strata={
            "repository": context.repo,
            "path": context.file,  # scanners of secrets choose their rules by it
            "language": of_language,
            "regime": regime(of_language),
            "category": family(context.category),
            "truth": context.gt,
        },
    )
