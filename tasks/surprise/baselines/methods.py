"""What every method of masking looks like, so that Surprise Masking and what it is compared with stand side by side.

A method gives levels (see ``tasks.surprise.levels``) on its own tokens or on characters, -inf for never masked. A
graded one has a rule by which a threshold meets its levels; a fixed one, such as a detector of secrets, marks what it
masks with the level 1.0 and has no threshold to sweep. Levels are never above -inf outside supervision.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from tasks.surprise.documents import Document
from tasks.surprise.levels import character_levels
from tasks.surprise.procedure import Batch, Procedure
from tasks.surprise.rows import F64, I64, Bool, Scores, check_sizes, offsets_of, ranges, row_numbers
from tasks.surprise.rules import Rule
from tasks.surprise.spans import Spans, flags
from tasks.surprise.tokens import Tokens


@dataclass(frozen=True, eq=False)
class Material:
    """What a method may look at.

    Attributes:
        documents: R texts with labels; methods other than the oracle do not look at the labels.
        batch: their tokens with reference scores; None where none was scored: only detectors of text work then.
        learner_scores: NLL of the same tokens under the model that is trained, in nats, shape (N,); for Rho-1.
        counted: documents that a method is tuned and judged on, shape (R,); None for all. The others share a group with
            one of them, so that propagation runs as it will when masking, and count for nothing themselves.
    """

    documents: Sequence[Document]
    batch: Batch | None = None
    learner_scores: Scores | None = None
    counted: Bool | None = None

    def __post_init__(self) -> None:
        if self.counted is not None:
            check_sizes("documents", len(self.documents), {"counted": self.counted.size})
        if self.batch is not None:
            check_sizes("documents", len(self.documents), {"rows of tokens": self.batch.tokens.spans.rows})

    @property
    def texts(self) -> list[str]:
        """The R texts."""
        return [document.text for document in self.documents]

    @property
    def lengths(self) -> I64:
        """Code points of each text, shape (R,)."""
        return np.array([len(document.text) for document in self.documents], dtype=np.int64)

    @property
    def targets(self) -> Spans:
        """Labelled spans."""
        return Spans.of([(label.start, label.end) for label in document.labels] for document in self.documents)

    @property
    def judged(self) -> list[Document]:
        """The documents that count."""
        if self.counted is None:
            return list(self.documents)
        return [document for document, counts in zip(self.documents, self.counted, strict=True) if counts]

    @property
    def supervised(self) -> Bool:
        """Characters that may be masked, all texts end to end, shape (C,)."""
        whole = [[(0, len(document.text))] for document in self.documents]
        given = [
            everywhere if document.supervised is None else [(part.start, part.end) for part in document.supervised]
            for document, everywhere in zip(self.documents, whole, strict=True)
        ]
        return flags(Spans.of(given), self.lengths)

    def scored(self, method: str) -> Batch:
        """Give the scored tokens.

        Raises:
            ValueError: there are none, and ``method`` needs them.
        """
        if self.batch is None:
            raise ValueError(f"{method} works on tokens with reference scores: score the documents first")
        return self.batch


@dataclass(frozen=True, eq=False)
class CharacterLevels:
    """Levels of all characters end to end."""

    levels: F64  # (C,)
    lengths: I64  # (R,) code points of each text

    def __post_init__(self) -> None:
        check_sizes("characters", int(self.lengths.sum()), {"character levels": self.levels.size})

    @classmethod
    def of_spans(cls, spans: Spans, material: Material) -> "CharacterLevels":
        """Mark the supervised characters of spans, fixed."""
        lengths = material.lengths
        return cls(fixed_levels(flags(spans, lengths) & material.supervised), lengths)

    def on_characters(self) -> F64:
        """Give the levels of characters, shape (C,)."""
        return self.levels

    def on_tokens(self, tokens: Tokens) -> F64:
        """Level of each token of any tokenizer: the highest of its characters, shape (N,); -inf if it has none."""
        row = row_numbers(tokens.row_offsets)
        widths = tokens.spans.end - tokens.spans.start
        held = np.flatnonzero(widths)
        levels = np.full(tokens.size, -np.inf)
        if held.size:
            first = offsets_of(self.lengths)[:-1][row[held]] + tokens.spans.start[held]
            laid_out = self.levels[ranges(first, widths[held])]
            levels[held] = np.maximum.reduceat(laid_out, offsets_of(widths[held])[:-1])
        return levels


@dataclass(frozen=True, eq=False)
class TokenLevels:
    """Levels of a method's own tokens."""

    tokens: Tokens
    levels: F64  # (N,)
    lengths: I64  # (R,) code points of each text

    def __post_init__(self) -> None:
        check_sizes("tokens", self.tokens.size, {"token levels": self.levels.size})

    def on_characters(self) -> F64:
        """Level of each character: the highest of the tokens that cover it, shape (C,)."""
        return character_levels(self.tokens, self.levels, self.lengths)

    def on_tokens(self, tokens: Tokens) -> F64:
        """Level of each token: its own, or through characters where it is another tokenizer's, shape (N,)."""
        if tokens is self.tokens:
            return self.levels
        return CharacterLevels(self.on_characters(), self.lengths).on_tokens(tokens)


Levels = CharacterLevels | TokenLevels


class Method(Protocol):
    """A way to choose what is masked."""

    @property
    def name(self) -> str:
        """How tables and pictures call it."""
        ...

    @property
    def rule(self) -> Rule | None:
        """How a threshold meets the levels; None of a fixed method."""
        ...

    def levels(self, material: Material) -> Levels:
        """Give the levels of characters or tokens.

        Raises:
            ValueError: the material lacks what the method looks at.
        """
        ...


@dataclass(frozen=True)
class SurpriseMasking:
    """The method itself, by its complete procedure."""

    procedure: Procedure
    name: str = "SM"

    @property
    def rule(self) -> Rule:
        """The procedure's."""
        return self.procedure.rule

    def levels(self, material: Material) -> TokenLevels:
        """Levels of the reference model's tokens."""
        batch = material.scored(self.name)
        return TokenLevels(batch.tokens, self.procedure.levels(batch), material.lengths)


@dataclass(frozen=True)
class AtThreshold:
    """A graded method with its threshold: a fixed method."""

    method: Method
    threshold: float

    @property
    def name(self) -> str:
        """Method and threshold."""
        return f"{self.method.name} at {self.threshold:g}"

    @property
    def rule(self) -> None:
        """None: the threshold is set."""
        return None

    def levels(self, material: Material) -> Levels:
        """Mark what reaches the threshold."""
        given = self.method.levels(material)
        if self.method.rule is None:
            raise ValueError(f"{self.method.name} is fixed: it has no threshold to set")
        marked = fixed_levels(self.method.rule.reached(given.levels, self.threshold))
        match given:
            case TokenLevels(tokens=tokens):
                return TokenLevels(tokens, marked, given.lengths)
            case CharacterLevels():
                return CharacterLevels(marked, given.lengths)


def fixed_levels(mask: Bool) -> F64:
    """Give the levels of a fixed mask: 1.0 where masked, -inf elsewhere."""
    return np.where(mask, 1.0, -np.inf)


def is_masked(levels: F64) -> Bool:
    """Read the mask back from the levels of a fixed method."""
    return levels > -np.inf
