import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from tasks.surprise.baselines.methods import AtThreshold, Material, is_masked
from tasks.surprise.baselines.privacy_filter import Decoded, LogOdds, Remembering, log_odds
from tasks.surprise.baselines.tags import TransitionBiases
from tasks.surprise.baselines.viterbi import F32
from tasks.surprise.documents import Document, Interval
from tasks.surprise.rows import I64

LABELS = ("O", "B-person", "I-person", "E-person", "S-person")


@dataclass(frozen=True)
class Answer:
    log_probs: F32
    start: I64
    end: I64


class Written:
    """Classifies each word, with the space before it, as the label written for it here."""

    labels = LABELS

    def __init__(self, **of_words: str) -> None:
        self.of_words = of_words
        self.calls = 0

    def __call__(self, texts: Sequence[str]) -> list[Answer]:
        self.calls += 1
        return [self.one(text) for text in texts]

    def one(self, text: str) -> Answer:
        starts = [0, *(place for place, letter in enumerate(text) if letter == " ")] if text else []
        ends = [*starts[1:], len(text)] if text else []
        scores = np.full((len(starts), 5), math.log(0.05), dtype=np.float32)
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            scores[place, LABELS.index(self.of_words.get(text[start:end].strip(), "O"))] = math.log(0.8)
        return Answer(scores, np.array(starts, dtype=np.int64), np.array(ends, dtype=np.int64))


TEXTS = ["ask Jane Doe now", "", "Bob ran"]
MATERIAL = Material([Document(str(row), text) for row, text in enumerate(TEXTS)])
NAMES = Written(Jane="B-person", Doe="E-person", Bob="S-person")


def masked(method: Decoded | AtThreshold, material: Material = MATERIAL) -> list[str]:
    flags = is_masked(method.levels(material).on_characters())
    text = "".join(material.texts)
    return "".join(letter if out else "·" for letter, out in zip(text, flags, strict=True)).replace("·", " ").split()


def test_decoded_spans_are_masked_without_the_space_before_them() -> None:
    method = Decoded(NAMES)
    flags = is_masked(method.levels(MATERIAL).on_characters())
    assert np.flatnonzero(flags).tolist() == [*range(4, 12), *range(16, 19)]
    assert (method.name, method.rule) == ("OPF", None)


def test_viterbi_mends_what_argmax_leaves_broken() -> None:
    broken = Written(Jane="I-person", Doe="E-person")
    assert masked(Decoded(broken, "argmax")) == ["Jane", "Doe"]
    assert masked(Decoded(broken, "viterbi")) == ["Jane", "Doe"]  # B for I costs ln 16 once, O for both twice
    lone = Written(ran="I-person")
    assert masked(Decoded(lone, "argmax")) == ["ran"]
    assert masked(Decoded(lone, "viterbi")) == []
    eager = TransitionBiases(background_to_start=3.0)  # worth more than ln(0.8 / 0.05) = 2.77
    assert masked(Decoded(lone, "viterbi", eager))


def test_log_odds_are_those_of_all_positives_against_the_background() -> None:
    method = LogOdds(NAMES)
    levels = method.levels(MATERIAL)
    named, other = math.log((0.8 + 3 * 0.05) / 0.05), math.log(4 * 0.05 / 0.8)
    assert levels.levels.tolist() == pytest.approx([other, named, named, other, named, other], abs=1e-6)
    assert masked(AtThreshold(method, 0.0)) == ["Jane", "Doe", "Bob"]


def test_log_odds_of_logits_equal_those_of_their_log_softmax() -> None:
    logits = np.random.default_rng(2).normal(scale=4, size=(50, 33)).astype(np.float32)
    probs = np.exp(logits.astype(np.float64)) / np.exp(logits.astype(np.float64)).sum(axis=1, keepdims=True)
    expected = np.log((1 - probs[:, 7]) / probs[:, 7])
    np.testing.assert_allclose(log_odds(logits, 7), expected, atol=1e-6)
    np.testing.assert_allclose(log_odds(np.log(probs).astype(np.float32), 7), expected, atol=1e-5)


def test_nothing_is_masked_outside_supervision() -> None:
    part = Material([Document("a", TEXTS[0], supervised=(Interval(9, 16),))])
    assert masked(Decoded(NAMES), part) == ["Doe"]
    assert (LogOdds(NAMES).levels(part).levels > -np.inf).tolist() == [False, False, True, True]


def test_two_methods_over_one_batch_run_the_model_once() -> None:
    counting = Written(Jane="S-person")
    once = Remembering(counting)
    Decoded(once).levels(MATERIAL)
    LogOdds(once).levels(MATERIAL)
    assert counting.calls == 1
    LogOdds(once).levels(Material([Document("b", "else")]))
    assert counting.calls == 2
