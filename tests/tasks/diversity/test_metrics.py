import math
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.diversity.metrics import (
    SetMetrics,
    Spread,
    bigram_diversity,
    entropy_bits,
    mattr,
    mean_pairwise_cosine,
    measure,
    vendi_of_set,
)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from vendi_score import vendi

TOKENS = st.lists(st.sampled_from("abcdefg"), min_size=2, max_size=60)


def test_mattr_averages_the_windows_of_a_hand_worked_text() -> None:
    assert mattr(["a", "b", "a", "a", "c"], window=3) == pytest.approx((2 / 3 + 2 / 3 + 2 / 3) / 3)
    assert mattr(["a", "a", "a", "b", "c"], window=3) == pytest.approx((1 / 3 + 2 / 3 + 3 / 3) / 3)
    assert mattr(list("abc") * 50) == 0.03  # 51 windows of 100 words with three distinct


def test_a_text_shorter_than_the_window_has_its_plain_type_token_ratio() -> None:
    assert mattr(["a", "b", "a", "c"]) == 3 / 4
    with pytest.raises(ZeroDivisionError):
        mattr([])


@given(tokens=TOKENS, window=st.integers(1, 20))
@settings(max_examples=100, deadline=None)
def test_mattr_equals_its_definition(tokens: list[str], window: int) -> None:
    size = min(window, len(tokens))
    ratios = [len(set(tokens[start : start + size])) / size for start in range(len(tokens) - size + 1)]
    assert mattr(tokens, window) == pytest.approx(sum(ratios) / len(ratios), rel=1e-12)


def test_bigram_diversity_counts_distinct_pairs_of_neighbours() -> None:
    assert bigram_diversity(["to", "be", "or", "not", "to", "be"]) == 4 / 5
    assert bigram_diversity(["a", "a"]) == 1.0
    with pytest.raises(ZeroDivisionError):
        bigram_diversity(["a"])


def test_entropy_is_in_bits() -> None:
    assert entropy_bits(["a", "b", "c", "d"]) == 2.0
    assert entropy_bits(["a", "a", "b", "c"]) == 1.5
    assert entropy_bits(["a", "a"]) == 0.0


@given(tokens=TOKENS)
@settings(max_examples=50, deadline=None)
def test_entropy_equals_its_definition(tokens: list[str]) -> None:
    p = np.array(list(Counter(tokens).values())) / len(tokens)
    assert entropy_bits(tokens) == pytest.approx(float(-(p * np.log2(p)).sum()), abs=1e-12)


def test_mean_cosine_is_over_pairs_of_different_rows() -> None:
    assert mean_pairwise_cosine(np.array([[1.0, 0.0], [0.0, 1.0]])) == 0.0
    assert mean_pairwise_cosine(np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])) == pytest.approx(1 / 3)
    rows = np.random.default_rng(0).normal(size=(40, 7)) + 0.5
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    naive = np.mean([rows[i] @ rows[j] for i in range(40) for j in range(i)])
    assert mean_pairwise_cosine(rows) == pytest.approx(naive, rel=1e-12)
    with pytest.raises(ValueError, match=r"1 vector\(s\) make no pair"):
        mean_pairwise_cosine(rows[:1])


@pytest.mark.parametrize("n", [1, 12, 13, 60])
def test_the_vendi_score_of_a_set_is_the_packages_by_either_side(n: int) -> None:
    rows = np.random.default_rng(n).normal(size=(n, 12))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    p = np.linalg.eigvalsh(rows @ rows.T / n)
    expected = math.exp(-sum(x * math.log(x) for x in p if x > 1e-15))
    assert vendi_of_set(rows, seed=0) == (pytest.approx(expected, rel=1e-9), n)
    assert float(vendi.score_dual(rows)) == pytest.approx(expected, rel=1e-9)


def test_orthogonal_records_count_each_and_duplicates_once() -> None:
    assert vendi_of_set(np.eye(4), seed=0) == (pytest.approx(4.0), 4)
    assert vendi_of_set(np.repeat(np.eye(4), 5, axis=0), seed=0) == (pytest.approx(4.0), 20)
    with pytest.raises(ValueError, match="no vectors"):
        vendi_of_set(np.empty((0, 4)), seed=0)


def test_a_larger_set_is_sampled_by_seed_and_says_so() -> None:
    rows = np.random.default_rng(1).normal(size=(90, 6))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    first, again, other = (vendi_of_set(rows, seed=seed, limit=30) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first[1] == other[1] == 30


def test_a_set_is_measured_per_record_and_as_a_whole() -> None:
    metrics = measure(
        ["The cat, the dog", "one two three four"],
        np.array([[1.0, 0.0], [0.6, 0.8]]),
        attributes=[10, 30],
        groups=[2, 4],
        seed=0,
    )
    likely = 0.8  # the eigenvalues of [[1, .6], [.6, 1]] / 2 are 0.8 and 0.2
    assert metrics == SetMetrics(
        records=2,
        mattr=(3 / 4 + 1) / 2,
        bigram_diversity=1.0,
        entropy_bits=(1.5 + 2.0) / 2,
        cosine=pytest.approx(0.6),
        vendi=pytest.approx(math.exp(-likely * math.log(likely) - 0.2 * math.log(0.2))),
        vendi_rows=2,
        words=Spread(4.0, 4.0, 4.0),
        attributes=Spread(20.0, 20.0, 29.0),
        groups=Spread(3.0, 3.0, pytest.approx(3.9)),
    )


def test_one_record_has_no_pair_but_all_else() -> None:
    metrics = measure(["two words"], np.array([[1.0, 0.0]]), attributes=[1], groups=[0], seed=0)
    assert metrics.cosine is None
    assert metrics.vendi == pytest.approx(1.0)


def test_what_cannot_be_measured_is_named() -> None:
    with pytest.raises(ValueError, match=r"text row 1: 1 word\(s\)"):
        measure(["two words", "one…"], np.eye(2), attributes=[1, 1], groups=[1, 1], seed=0)
    with pytest.raises(ValueError, match="embedding row 1: norm 0"):
        measure(["two words"] * 2, np.array([[1.0, 0.0], [0.0, 0.0]]), attributes=[1, 1], groups=[1, 1], seed=0)
    with pytest.raises(ValueError, match="2 texts, 2 embeddings, 1 attribute counts and 2 group counts"):
        measure(["two words"] * 2, np.eye(2), attributes=[1], groups=[1, 1], seed=0)
    with pytest.raises(ValueError, match="at least one record"):
        measure([], np.empty((0, 2)), attributes=[], groups=[], seed=0)
