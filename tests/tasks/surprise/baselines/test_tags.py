import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.baselines.tags import Tags, TransitionBiases
from tasks.surprise.baselines.viterbi import F32

TAGS = Tags(("B-a", "O", "I-a", "E-a", "S-a", "B-b", "I-b", "E-b", "S-b"))  # the order is the head's, not ours
FULL = ("account_number", "private_address", "private_date", "private_email", "private_person", "private_phone",
        "private_url", "secret")  # fmt: skip
OPF = Tags(("O", *(f"{mark}-{category}" for category in FULL for mark in "BIES")))
AFTER_A_SPAN = "O B-a S-a B-b S-b"
FOLLOWERS = {  # the rule, written out by hand
    "O": AFTER_A_SPAN, "E-a": AFTER_A_SPAN, "S-a": AFTER_A_SPAN, "E-b": AFTER_A_SPAN, "S-b": AFTER_A_SPAN,
    "B-a": "I-a E-a", "I-a": "I-a E-a", "B-b": "I-b E-b", "I-b": "I-b E-b",
}  # fmt: skip
ZERO = TransitionBiases()


def bias(biases: TransitionBiases, before: str, after: str) -> float:
    match before[0], after[0]:
        case "O", "O":
            return biases.background_stay
        case "O", _:
            return biases.background_to_start
        case "B" | "I", "I":
            return biases.inside_to_continue
        case "B" | "I", _:
            return biases.inside_to_end
        case _, "O":
            return biases.end_to_background
        case _:
            return biases.end_to_start


def best_by_trying_all(log_probs: F32, biases: TransitionBiases) -> float:
    best = -math.inf
    for path in itertools.product(range(9), repeat=len(log_probs)):
        names = [TAGS.labels[label] for label in path]
        if names[0][0] not in "OBS" or names[-1][0] not in "OES":
            continue
        if any(after not in FOLLOWERS[before].split() for before, after in itertools.pairwise(names)):
            continue
        best = max(best, score(path, log_probs, biases))
    return best


def score(path: tuple[int, ...], log_probs: F32, biases: TransitionBiases) -> float:
    names = [TAGS.labels[label] for label in path]
    emitted = sum(float(log_probs[place, label]) for place, label in enumerate(path))
    return emitted + sum(bias(biases, before, after) for before, after in itertools.pairwise(names))


def random_log_probs(rng: np.random.Generator, length: int, labels: int = 9) -> F32:
    logits = rng.normal(scale=3.0, size=(length, labels))
    return (logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))).astype(np.float32)


@given(seed=st.integers(0, 10_000), biased=st.booleans())
@settings(max_examples=12, deadline=None)
def test_viterbi_finds_the_best_allowed_path(seed: int, biased: bool) -> None:
    rng = np.random.default_rng(seed)
    biases = ZERO
    if biased:
        biases = TransitionBiases(**dict(zip(TransitionBiases.model_fields, rng.normal(scale=2, size=6), strict=True)))
    texts = [random_log_probs(rng, length) for length in (3, 0, 1, 4, 2)]
    for log_probs, path in zip(texts, TAGS.viterbi(texts, biases), strict=True):
        assert path.size == len(log_probs)
        if path.size:
            found = score(tuple(path.tolist()), log_probs, biases)
            assert found == pytest.approx(best_by_trying_all(log_probs, biases), abs=1e-9)
            names = [TAGS.labels[label] for label in path]
            assert names[0][0] in "OBS"
            assert names[-1][0] in "OES"
            assert all(after in FOLLOWERS[before].split() for before, after in itertools.pairwise(names))


def test_texts_decoded_together_are_decoded_as_each_alone() -> None:
    rng = np.random.default_rng(1)
    texts = [random_log_probs(rng, length, 33) for length in (40, 0, 7, 40, 133)]
    alone = [OPF.viterbi([text], ZERO)[0] for text in texts]
    for together, single in zip(OPF.viterbi(texts, ZERO), alone, strict=True):
        assert np.array_equal(together, single)
    assert OPF.viterbi([], ZERO) == []
    assert [path.size for path in OPF.viterbi([texts[1]], ZERO)] == [0]


def test_a_sequence_that_obeys_the_rules_is_its_own_best_path() -> None:
    names = ["O", "B-secret", "I-secret", "E-secret", "S-private_email", "B-secret", "E-secret", "O"]
    log_probs = np.full((len(names), 33), -9.0, dtype=np.float32)
    for place, name in enumerate(names):
        log_probs[place, OPF.labels.index(name)] = -0.1
    assert [OPF.labels[label] for label in OPF.viterbi([log_probs], ZERO)[0]] == names


def test_the_bias_of_staying_in_the_background_takes_a_span_away() -> None:
    log_probs = np.log(np.full((3, 9), 0.05, dtype=np.float32))
    log_probs[:, 1] = np.log([0.6, 0.2, 0.6])
    log_probs[1, 4] = np.log(0.6)  # S-a in the middle
    assert TAGS.viterbi([log_probs], ZERO)[0].tolist() == [1, 4, 1]
    assert TAGS.viterbi([log_probs], TransitionBiases(background_stay=1.0))[0].tolist() == [1, 1, 1]


def test_spans_of_a_valid_path_are_its_entities() -> None:
    names = ["O", "B-a", "I-a", "E-a", "S-a", "B-b", "E-b", "O", "S-b"]
    path = np.array([TAGS.labels.index(name) for name in names])
    assert TAGS.spans(path) == [(1, 4), (4, 5), (5, 7), (8, 9)]


def test_broken_sequences_of_argmax_lose_no_positive_token() -> None:
    names = ["I-a", "I-a", "I-b", "E-b", "E-b", "O", "E-a", "B-a", "B-a"]
    path = np.array([TAGS.labels.index(name) for name in names])
    assert TAGS.spans(path) == [(0, 2), (2, 4), (4, 5), (6, 7), (7, 8), (8, 9)]
    assert TAGS.spans(np.zeros(0, dtype=np.int64)) == []
    assert TAGS.spans(np.array([1, 1])) == []


def test_scores_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="text 1: token 2"):
        TAGS.viterbi([np.zeros((1, 9), dtype=np.float32), np.array([[0.0] * 9] * 2 + [[np.nan] * 9], np.float32)], ZERO)


def test_labels_without_a_whole_category_are_refused() -> None:
    with pytest.raises(ValueError, match="B-, I-, E- and S- of each category"):
        Tags(("O", "B-a", "I-a", "E-a"))
    with pytest.raises(ValueError, match="O and B-"):
        Tags(("O", "LABEL_1"))


def written(file: Path, **biases: float) -> Path:
    file.write_text(json.dumps({"operating_points": {"default": {"biases": biases}}}), encoding="utf-8")
    return file


def test_a_calibration_file_gives_the_six_biases(tmp_path: Path) -> None:
    six = {f"transition_bias_{name}": number / 4 for number, name in enumerate(TransitionBiases.model_fields)}
    read = TransitionBiases.read(written(tmp_path / "c.json", **six))
    assert list(read.model_dump().values()) == [0, 0.25, 0.5, 0.75, 1.0, 1.25]


def test_a_calibration_file_that_lacks_a_bias_or_the_point_is_named(tmp_path: Path) -> None:
    file = written(tmp_path / "c.json", transition_bias_background_stay=1.0)
    for point in ("default", "recall"):
        with pytest.raises(ValueError, match=rf"c\.json: operating point '{point}'"):
            TransitionBiases.read(file, point)
