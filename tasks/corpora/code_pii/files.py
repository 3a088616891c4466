"""One file of a bundle."""

from dataclasses import dataclass

from tasks.corpora.code_pii.identities import PrivateValue


@dataclass(frozen=True, slots=True)
class File:
    """A file of a bundle.

    Attributes:
        path: in the bundle.
        content: text.
        language: of a fence around it.
        asked: what a user says who wants it; empty for clean files.
        value: the private value in it.
        start: where that begins, in code points.
        task: that it solves.
    """

    path: str
    content: str
    language: str = "python"
    asked: str = ""
    value: PrivateValue | None = None
    start: int = 0
    task: str | None = None
