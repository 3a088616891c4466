"""BIOES tags: which may follow which, the best sequence that obeys, and the spans that a sequence means."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tasks.surprise.baselines.viterbi import F32, best_paths
from tasks.surprise.rows import F64, I64, Bool

_OPENING, _CLOSING, _OPEN = ("B", "S"), ("E", "S"), ("B", "I")


class TransitionBiases(BaseModel):
    """What is added to the score of a path at each transition; six numbers of a calibration file, zero by default."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    background_stay: float = Field(default=0.0, description="O to O")
    background_to_start: float = Field(default=0.0, description="O to B or S")
    inside_to_continue: float = Field(default=0.0, description="B or I to I")
    inside_to_end: float = Field(default=0.0, description="B or I to E")
    end_to_background: float = Field(default=0.0, description="E or S to O")
    end_to_start: float = Field(default=0.0, description="E or S to B or S")

    @classmethod
    def read(cls, file: Path, point: str = "default") -> Self:
        """Read an operating point of a calibration file, as it comes with the OpenAI Privacy Filter.

        Raises:
            ValueError: the file has no such point, or one of its six biases is missing or no number.
        """
        try:
            biases = json.loads(file.read_text(encoding="utf-8"))["operating_points"][point]["biases"]
            return cls(**{name: biases[f"transition_bias_{name}"] for name in cls.model_fields})
        except (KeyError, TypeError, ValidationError, json.JSONDecodeError) as error:
            raise ValueError(f"{file}: operating point {point!r} does not have the six transition biases") from error


@dataclass(frozen=True)
class Tags:
    """Labels of a classifier's head, in its order: ``O``, and ``B-``, ``I-``, ``E-``, ``S-`` of each category."""

    labels: tuple[str, ...]

    def __post_init__(self) -> None:
        expected = {"O", *(f"{mark}-{category}" for category in self.categories for mark in "BIES")}
        if set(self.labels) != expected or len(self.labels) != len(expected):
            raise ValueError(f"labels {self.labels}: O and B-, I-, E- and S- of each category are needed, once each")

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories, in the order of their first label."""
        return tuple(dict.fromkeys(label[2:] for label in self.labels if label != "O"))

    @property
    def background(self) -> int:
        """Number of the label ``O``."""
        return self.labels.index("O")

    def marked(self, marks: Sequence[str]) -> Bool:
        """Flag the labels with one of these first letters, shape (L,)."""
        return np.array([label[0] in marks for label in self.labels])

    def transitions(self, biases: TransitionBiases) -> F64:
        """Score of each label after each other, shape (L, L); -inf where it may not follow."""
        size = len(self.labels)
        background, opening, closing = self.marked(("O",)), self.marked(_OPENING), self.marked(_CLOSING)
        category = np.array([label[2:] for label in self.labels])
        within = np.outer(self.marked(_OPEN), np.ones(size, dtype=np.bool_)) & (category[:, None] == category)
        scores = np.full((size, size), -np.inf)
        scores[np.outer(background, background)] = biases.background_stay
        scores[np.outer(background, opening)] = biases.background_to_start
        scores[within & self.marked(("I",))] = biases.inside_to_continue
        scores[within & self.marked(("E",))] = biases.inside_to_end
        scores[np.outer(closing, background)] = biases.end_to_background
        scores[np.outer(closing, opening)] = biases.end_to_start
        return scores

    def viterbi(self, log_probs: Sequence[F32], biases: TransitionBiases) -> list[I64]:
        """Find the best allowed label sequence of each text.

        A sequence begins with O, B or S, ends with O, E or S, and B and I go on only to I or E of their category.

        Args:
            log_probs: log-softmax of each text's tokens, shape (T, L) each; T may be 0.
            biases: added at each transition.

        Returns:
            Labels of each text, shape (T,) each.

        Raises:
            ValueError: a score is not finite.
        """
        begin, end = self.marked(("O", *_OPENING)), self.marked(("O", *_CLOSING))
        return best_paths(log_probs, self.transitions(biases), begin, end)

    def spans(self, path: I64) -> list[tuple[int, int]]:
        """Spans of tokens that a label sequence means, half-open; every token that is not O is in one.

        A span begins at B or S, after O, E or S, and where the category changes: so sequences that break the rules,
        as those of argmax do, have spans too.
        """
        positive = path != self.background
        category = np.array([self.categories.index(label[2:]) if label != "O" else -1 for label in self.labels])
        before = np.concatenate([[self.background], path[:-1]]) if path.size else path
        begins = positive & (
            self.marked(_OPENING)[path] | self.marked(("O", *_CLOSING))[before] | (category[path] != category[before])
        )
        edges = np.flatnonzero(begins | ~positive)
        bounds = pairwise([*edges.tolist(), path.size])
        return [(first, stop) for first, stop in bounds if positive[first]]
