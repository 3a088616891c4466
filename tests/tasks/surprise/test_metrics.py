import pytest

from tasks.surprise.metrics import Counts


def counts(tp: int, fp: int, fn: int, tn: int) -> Counts:
    return Counts(true_positives=tp, false_positives=fp, false_negatives=fn, true_negatives=tn)


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
