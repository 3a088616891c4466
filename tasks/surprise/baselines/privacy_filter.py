"""The OpenAI Privacy Filter (OPF), or any token classifier with BIOES labels, as methods (SM App. C.3).

Decoded, it is a detector; its log odds are levels to calibrate a threshold on. Both need what the classifier says
about every token, which ``Remembering`` asks for once.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np

from tasks.surprise.baselines.methods import CharacterLevels, Material, TokenLevels
from tasks.surprise.baselines.tags import Tags, TransitionBiases
from tasks.surprise.baselines.viterbi import F32
from tasks.surprise.rows import F64, I64, offsets_of
from tasks.surprise.rules import GlobalRule
from tasks.surprise.spans import Spans
from tasks.surprise.tokens import Tokens


class Classification(Protocol):
    """What a classifier says about the T tokens of one text."""

    @property
    def log_probs(self) -> F32:
        """Log-softmax over the L labels, shape (T, L)."""
        ...

    @property
    def start(self) -> I64:
        """First code point of each token, shape (T,)."""
        ...

    @property
    def end(self) -> I64:
        """One past the last, shape (T,)."""
        ...


class Classifier(Protocol):
    """A token classifier with a tokenizer of its own."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Labels of its head, in order."""
        ...

    def __call__(self, texts: Sequence[str]) -> Sequence[Classification]:
        """Classify the tokens of each text, from its beginning to its end."""
        ...


@dataclass
class Remembering:
    """A classifier that keeps its last answer, so that several methods over one batch run the model once."""

    classifier: Classifier
    _texts: list[str] | None = field(default=None, repr=False)
    _answer: Sequence[Classification] = field(default=(), repr=False)

    @property
    def labels(self) -> tuple[str, ...]:
        """The classifier's."""
        return self.classifier.labels

    def __call__(self, texts: Sequence[str]) -> Sequence[Classification]:
        """Classify, or repeat the last answer."""
        if self._texts != list(texts):
            self._answer, self._texts = self.classifier(texts), list(texts)
        return self._answer


@dataclass(frozen=True)
class Decoded:
    """Native OPF: mask the spans of the decoded labels, whatever their category, without white space at their ends."""

    classifier: Classifier
    decoding: Literal["viterbi", "argmax"] = "viterbi"
    biases: TransitionBiases = field(default_factory=TransitionBiases)  # of viterbi
    name: str = "OPF"

    @property
    def rule(self) -> None:
        """None: labels are decoded, not thresholded."""
        return None

    def levels(self, material: Material) -> CharacterLevels:
        """Mark the characters of the decoded spans."""
        tags = Tags(self.classifier.labels)
        answers = self.classifier(material.texts)
        spans = _tokens(answers, material).spans.pairs()
        rows = [
            [_trimmed(text, placed[first][0], placed[stop - 1][1]) for first, stop in tags.spans(path)]
            for text, placed, path in zip(material.texts, spans, self._paths(tags, answers), strict=True)
        ]
        return CharacterLevels.of_spans(Spans.of(rows), material)

    def _paths(self, tags: Tags, answers: Sequence[Classification]) -> list[I64]:
        match self.decoding:
            case "viterbi":
                return tags.viterbi([answer.log_probs for answer in answers], self.biases)
            case "argmax":
                return [answer.log_probs.argmax(axis=1) for answer in answers]


@dataclass(frozen=True)
class LogOdds:
    """Thresholded OPF: the log odds of any positive label against the background, over a calibrated threshold.

    s = log p(positive | x) - log p(O | x) = logsumexp over y != O of z_y - z_O
    """

    classifier: Classifier
    name: str = "OPF log odds"

    @property
    def rule(self) -> GlobalRule:
        """One threshold for all tokens."""
        return GlobalRule()

    def levels(self, material: Material) -> TokenLevels:
        """Levels of the classifier's own tokens; -inf for those outside supervision."""
        background = Tags(self.classifier.labels).background
        answers = self.classifier(material.texts)
        tokens = _tokens(answers, material)
        odds = [log_odds(answer.log_probs, background) for answer in answers]
        levels = np.concatenate([np.empty(0), *odds])
        allowed = CharacterLevels(np.where(material.supervised, 1.0, -np.inf), material.lengths).on_tokens(tokens)
        levels[allowed == -np.inf] = -np.inf
        return TokenLevels(tokens, levels, material.lengths)


def log_odds(log_probs: F32, background: int) -> F64:
    """Log odds of all other labels together against one, shape (T, L) to (T,).

    The same of logits and of their log-softmax, in float64.
    """
    scores = np.delete(log_probs.astype(np.float64), background, axis=1)
    top = scores.max(axis=1)
    return np.asarray(top + np.log(np.exp(scores - top[:, None]).sum(axis=1)) - log_probs[:, background])


def _tokens(answers: Sequence[Classification], material: Material) -> Tokens:
    """Tokens of the classifier with repaired offsets; their ids are not known here, and 0."""
    return Tokens.from_offsets(
        ids=np.zeros(sum(len(answer.start) for answer in answers), dtype=np.int64),
        start=_joined([answer.start for answer in answers]),
        end=_joined([answer.end for answer in answers]),
        row_offsets=offsets_of([len(answer.start) for answer in answers]),
        covered=material.lengths,
    )


def _joined(parts: Sequence[I64]) -> I64:
    return np.concatenate([np.empty(0, dtype=np.int64), *parts])


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Take white space off both ends of a span; one of nothing else stays as it is empty, at its end."""
    held = text[start:end]
    return start + len(held) - len(held.lstrip()), start + len(held.rstrip()) if held.strip() else end
