import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.metrics import Counts, count, count_by_category


def counts(tp: int, fp: int, fn: int, tn: int) -> Counts:
    return Counts(true_positives=tp, false_positives=fp, false_negatives=fn, true_negatives=tn)


@given(st.lists(st.tuples(st.booleans(), st.booleans())))
@settings(max_examples=80, deadline=None)
def test_counts_are_those_of_a_walk_over_the_units(pairs: list[tuple[bool, bool]]) -> None:
    masked = np.array([m for m, _ in pairs], dtype=np.bool_)
    target = np.array([t for _, t in pairs], dtype=np.bool_)
    expected = [pairs.count(kind) for kind in ((True, True), (True, False), (False, True), (False, False))]
    assert count(masked, target) == counts(*expected)


def test_the_papers_mbpp_row_has_precision_678_recall_816_and_f1_741() -> None:
    row = counts(40, 19, 9, 974)  # SM Table 15, as details.md reads it
    assert row.precision == pytest.approx(0.678, abs=5e-4)
    assert row.tpr == pytest.approx(0.816, abs=5e-4)
    assert row.f1 == pytest.approx(0.741, abs=5e-4)


def test_masking_all_of_piibench_would_have_f1_274() -> None:
    share = counts(0, 0, 5_609_040, 35_386_791 - 5_609_040)  # SM A.4
    assert share.mask_everything_f1 == pytest.approx(0.274, abs=5e-4)
    p = 5_609_040 / 35_386_791
    assert share.mask_everything_f1 == pytest.approx(2 * p / (1 + p), rel=1e-15)


def test_counts_are_pooled_before_a_ratio_is_taken() -> None:
    pooled = counts(1, 0, 0, 9) + counts(1, 2, 98, 3)
    assert pooled == counts(2, 2, 98, 12)
    assert (pooled.tpr, pooled.fpr, pooled.masked_share) == (2 / 100, 2 / 14, 4 / 114)


def test_a_ratio_of_nothing_is_none() -> None:
    nothing = counts(0, 0, 0, 5)
    assert (nothing.tpr, nothing.precision, nothing.f1, nothing.mask_everything_f1) == (None, None, None, 0.0)
    assert counts(0, 0, 3, 0).fpr is None
    assert counts(0, 0, 0, 0).masked_share is None


def test_a_category_leaves_other_categories_out_and_counts_a_unit_of_both() -> None:
    masked = np.array([1, 1, 0, 1, 0, 1], dtype=np.bool_)
    key = np.array([1, 0, 1, 1, 0, 0], dtype=np.bool_)
    token = np.array([0, 1, 0, 1, 0, 0], dtype=np.bool_)
    found = count_by_category(masked, {"key": key, "token": token})
    assert found == {"key": counts(2, 1, 1, 1), "token": counts(2, 1, 0, 1)}


def test_within_documents_only_those_that_hold_the_category_count() -> None:
    masked = np.array([1, 1, 0, 1, 0], dtype=np.bool_)
    key = np.array([1, 0, 0, 0, 0], dtype=np.bool_)
    found = count_by_category(masked, {"key": key}, documents=np.array([4, 4, 4, 9, 9]))
    assert found == {"key": counts(1, 1, 0, 1)}


def test_sizes_that_differ_are_refused() -> None:
    two, three = np.zeros(2, dtype=np.bool_), np.zeros(3, dtype=np.bool_)
    with pytest.raises(ValueError, match="masked has 2 elements, but there are 3 targets"):
        count(two, three)
    with pytest.raises(ValueError, match="category key has 3 elements"):
        count_by_category(two, {"key": three})
    with pytest.raises(ValueError, match="documents has 1 elements"):
        count_by_category(two, {"key": two}, np.zeros(1, dtype=np.int64))
