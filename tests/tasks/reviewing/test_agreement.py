import itertools
import math
import warnings

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import fisher_exact
from sklearn.metrics import cohen_kappa_score

from tasks.measuring.proportions import Proportion
from tasks.reviewing.agreement import agreement, cohen_kappa, krippendorff_alpha
from tasks.reviewing.difference import difference, fisher_p
from tasks.reviewing.paper import PAPER


def units(*observers: str) -> list[list[str]]:
    return [[value for value in column if value != "."] for column in zip(*observers, strict=True)]


def test_alpha_of_the_published_example_of_four_observers_with_missing_values() -> None:
    """Krippendorff 2011; a dot where an observer did not see the unit."""
    a = "123321412..."
    b = "1233224125.3"
    c = ".3332342251."
    d = "12332441251."
    assert krippendorff_alpha(units(a, b, c, d)) == pytest.approx(0.743, abs=5e-4)


def test_alpha_of_the_published_example_of_two_observers_and_two_values() -> None:
    assert krippendorff_alpha(units("0100000010", "1110010000")) == pytest.approx(0.095, abs=5e-4)


ANSWERS = st.lists(st.lists(st.sampled_from([True, False, None]), min_size=3, max_size=3), min_size=1, max_size=12)


@given(ANSWERS)
def test_alpha_is_that_of_the_coincidence_matrix(rows: list[list[bool | None]]) -> None:
    """The other way to write it: o[c,k] = sum over units of (ordered pairs c, k) / (m - 1); 1 - (n-1) o / e."""
    shared = [values for row in rows if len(values := [each for each in row if each is not None]) > 1]
    coincidences = dict.fromkeys(itertools.product((True, False), repeat=2), 0.0)
    for unit in shared:
        for one, other in itertools.permutations(unit, 2):
            coincidences[one, other] += 1 / (len(unit) - 1)
    yes, no = (coincidences[value, True] + coincidences[value, False] for value in (True, False))
    alpha = krippendorff_alpha(shared)
    if yes * no == 0:
        assert alpha is None
    else:
        assert alpha == pytest.approx(1 - (yes + no - 1) * coincidences[True, False] / (yes * no))


@pytest.mark.parametrize(
    ("both", "first", "second", "neither", "kappa"),
    [(20, 5, 10, 15, 0.4), (45, 15, 25, 15, 0.1304), (25, 35, 5, 35, 0.2593)],
)
def test_kappa_of_textbook_tables(both: int, first: int, second: int, neither: int, kappa: float) -> None:
    pairs = [(True, True)] * both + [(True, False)] * first + [(False, True)] * second + [(False, False)] * neither
    assert cohen_kappa(pairs) == pytest.approx(kappa, abs=5e-5)


@settings(max_examples=40)
@given(st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=30))
def test_kappa_is_that_of_scikit_learn(pairs: list[tuple[bool, bool]]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of an undefined kappa it warns
        theirs = cohen_kappa_score([one for one, _ in pairs], [other for _, other in pairs])
    ours = cohen_kappa(pairs)
    if math.isnan(theirs):
        assert ours is None
    else:
        assert ours == pytest.approx(theirs)


def test_agreement_counts_only_what_several_judged() -> None:
    said = {"ann": {"1": True, "2": True, "3": False}, "ben": {"1": True, "2": False}, "cem": {"1": True, "4": True}}
    found = agreement(said)
    assert found.texts == 2  # the first by three, the second by two
    assert found.raw == pytest.approx(3 / 5)  # three judgements that agree with all others, two with none
    ann_ben, ann_cem, ben_cem = found.pairs
    assert (ann_ben.first, ann_ben.second, ann_ben.texts, ann_ben.raw) == ("ann", "ben", 2, 0.5)
    assert (ann_cem.texts, ann_cem.raw, ann_cem.kappa) == (1, 1.0, None)  # one answer throughout: chance is certain
    assert ben_cem.texts == 1


def test_of_one_reviewer_there_is_no_agreement() -> None:
    found = agreement({"ann": {"1": True}})
    assert (found.texts, found.raw, found.alpha, found.pairs) == (0, None, None, ())


@pytest.mark.parametrize(
    ("one", "other", "low", "high"),  # Newcombe 1998, Table II, method 10
    [((56, 70), (48, 80), 0.0524, 0.3339), ((9, 10), (3, 10), 0.1705, 0.8090), ((10, 10), (0, 20), 0.6791, 1.0)],
)
def test_the_interval_of_a_difference_is_newcombes(
    one: tuple[int, int], other: tuple[int, int], low: float, high: float
) -> None:
    found = difference(Proportion.counted(*one), Proportion.counted(*other))
    assert found.low == pytest.approx(low, abs=5e-5)
    assert found.high == pytest.approx(high, abs=5e-5)


def test_p_is_fishers_of_the_tea() -> None:
    found = difference(Proportion.counted(3, 4), Proportion.counted(1, 4))
    assert found.p == pytest.approx(34 / 70)  # 2 (16 + 1) of the 70 ways to choose four cups of eight


@given(st.integers(0, 12), st.integers(0, 12), st.integers(0, 12), st.integers(0, 12))
def test_p_is_that_of_scipy(yes: int, no: int, other_yes: int, other_no: int) -> None:
    theirs = float(fisher_exact([[yes, no], [other_yes, other_no]]).pvalue)
    assert fisher_p(yes, yes + no, other_yes, other_yes + other_no) == pytest.approx(theirs)


def test_of_nothing_there_is_no_difference() -> None:
    found = difference(Proportion.counted(0, 0), Proportion.counted(1, 2))
    assert (found.value, found.low, found.high, found.p) == (None, None, None, None)


def test_the_papers_counts_differ_by_less_than_they_are_sure() -> None:
    gap = PAPER.difference
    assert gap.value == pytest.approx(2 / 128)
    assert gap.low is not None
    assert gap.high is not None
    assert gap.low < 0 < gap.high
