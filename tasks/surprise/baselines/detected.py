"""Detectors of spans, such as scanners for secrets, as methods; they see texts and file names only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from tasks.surprise.baselines.methods import CharacterLevels, Material
from tasks.surprise.documents import PATH, Document
from tasks.surprise.spans import Spans

_NO_PATH = "text.txt"


class Detector(Protocol):
    """Finds spans in a batch of texts; it knows nothing of labels."""

    @property
    def name(self) -> str:
        """How tables call it."""
        ...

    def __call__(self, texts: Sequence[str], paths: Sequence[str]) -> list[list[tuple[int, int]]]:
        """Give the spans of each text as pairs (start, end) in code points, in any order; they may overlap."""
        ...


@dataclass(frozen=True)
class Detected:
    """Mask what a detector finds."""

    detector: Detector

    @property
    def name(self) -> str:
        """The detector's."""
        return self.detector.name

    @property
    def rule(self) -> None:
        """None: a detector says yes or no."""
        return None

    def levels(self, material: Material) -> CharacterLevels:
        """Mark the characters of what is found.

        Raises:
            ValueError: a span ends after its text.
        """
        paths = [path_of(document) for document in material.documents]
        return CharacterLevels.of_spans(Spans.of(self.detector(material.texts, paths)), material)


def path_of(document: Document) -> str:
    """Give the file name by which scanners choose their rules: the stratum ``path``, or that of a plain text."""
    return document.strata.get(PATH) or _NO_PATH
