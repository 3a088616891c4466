"""NLL by token frequencies, by hand."""

import math

import numpy as np
import pytest

from tasks.masking_study.yardsticks import yardsticks
from tasks.training.examples import IGNORED, Example


def _example(*labels: int) -> Example:
    ids = np.array([max(label, 0) for label in labels], dtype=np.int32)
    learnt = np.array(labels, dtype=np.int32)
    return Example("e", ids, learnt, (learnt != IGNORED).astype(np.float32))


def test_each_answer_weighs_the_same_and_unseen_tokens_cost_something() -> None:
    # Token 0 three times, token 1 never, of two: (3 + 1) / 5 and (0 + 1) / 5.
    trained = np.array([0, 0, 0], dtype=np.int64)
    found = yardsticks(trained, [_example(IGNORED, 0, 0), _example(IGNORED, 1)], 2)
    assert found.unigram == pytest.approx((-math.log(4 / 5) - math.log(1 / 5)) / 2)
    assert found.uniform == pytest.approx(math.log(2))


def test_nothing_to_score_is_told() -> None:
    with pytest.raises(ValueError, match="no gold answers"):
        yardsticks(np.array([0], dtype=np.int64), [], 2)
