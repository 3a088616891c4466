import math

import numpy as np
import pytest

from tasks.surprise.evaluation.features import features_of, reading_of
from tasks.surprise.evaluation.notation import Misspelled
from tasks.surprise.procedure import Batch
from tasks.surprise.windows import fixed_windows, whole_windows
from tests.tasks.surprise.batches import tokens_of

TEXT = "ab\ncd\nef"
PLAIN = np.array([math.nan, 2.0, 1.0, 3.0, 6.0, 0.0, 4.0, 4.0])
CONTRAST = np.array([1.0, -1.0, 0.0, 2.0, 2.0, 0.0, -2.0, 0.0])


def batch() -> Batch:
    return Batch(tokens_of([range(8)]), PLAIN, np.ones(8, dtype=np.bool_), [TEXT])


def test_a_feature_is_a_mean_the_mean_of_the_largest_or_the_highest_line() -> None:
    given = batch()
    windows = whole_windows(given.tokens.row_offsets, given.supervised)
    names = ["contrast", "contrast:top:2", "plain:lines", "plain"]
    found = features_of(names, {"plain": PLAIN, "contrast": CONTRAST}, given, windows)
    assert found["contrast"].tolist() == [2 / 8]
    assert found["contrast:top:2"].tolist() == [2.0]
    assert found["plain:lines"].tolist() == [4.0]  # "ef"; "cd" and its end have 3, "ab" has no score for its first
    assert np.isnan(found["plain"]).tolist() == [True]


def test_a_window_sees_the_lines_it_shares_a_token_with() -> None:
    given = batch()
    windows = fixed_windows(given.tokens.row_offsets, 2)
    highest = features_of(["plain:lines"], {"plain": PLAIN}, given, windows)["plain:lines"].tolist()
    assert math.isnan(highest[0])
    assert math.isnan(highest[1])  # both in the first line
    assert highest[2:] == [3.0, 3.0, 3.0, 4.0, 4.0]


@pytest.mark.parametrize("name", ["surprise", "plain:", "plain:top", "plain:top:0", "contrast:lines:2", ""])
def test_misspelled_features_are_refused(name: str) -> None:
    with pytest.raises(Misspelled, match="READING"):
        reading_of(name)


def test_a_feature_of_scores_that_are_not_there_is_refused() -> None:
    given = batch()
    windows = fixed_windows(given.tokens.row_offsets, 2)
    with pytest.raises(Misspelled, match="no contrast scores, only plain"):
        features_of(["contrast"], {"plain": PLAIN}, given, windows)
