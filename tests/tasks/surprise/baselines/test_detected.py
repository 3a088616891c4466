import re
from collections.abc import Sequence

import numpy as np
import pytest

from tasks.surprise.baselines.detected import Detected
from tasks.surprise.baselines.methods import Material
from tasks.surprise.documents import Document, Interval


class Digits:
    """Finds runs of digits, but not in logs."""

    name = "digits"

    def __call__(self, texts: Sequence[str], paths: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [
            [] if path.endswith(".log") else [match.span() for match in re.finditer(r"\d+", text)]
            for text, path in zip(texts, paths, strict=True)
        ]


class Blind:
    name = "blind"

    def __call__(self, texts: Sequence[str], paths: Sequence[str]) -> list[list[tuple[int, int]]]:
        return [[(0, len(text) + 1)] for text in texts]


DOCUMENTS = [
    Document("a", "a12b", supervised=(Interval(0, 2),)),
    Document("b", "3", strata={"path": "srv/b.log"}),
    Document("c", "é4", strata={"path": ""}),
]


def test_found_spans_are_masked_where_supervised_and_paths_come_from_the_strata() -> None:
    method = Detected(Digits())
    masked = method.levels(Material(DOCUMENTS)).on_characters()
    assert masked.tolist() == [-np.inf, 1, -np.inf, -np.inf, -np.inf, -np.inf, 1]
    assert (method.name, method.rule) == ("digits", None)


def test_a_span_past_the_text_is_an_error() -> None:
    with pytest.raises(ValueError, match="ends after the text's 4 code points"):
        Detected(Blind()).levels(Material(DOCUMENTS))
