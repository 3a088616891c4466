"""What gold answers cost without a model: by counting tokens, and by chance."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tasks.surprise.rows import I64
from tasks.training.examples import IGNORED, Example


@dataclass(frozen=True, slots=True)
class Yardsticks:
    """NLL of the gold answers, mean over answers in nats a token, as ``tasks.measuring.utility.gold`` has it.

    Attributes:
        uniform: every token of the vocabulary equally likely.
        unigram: as often as in training, each token counted once more.
    """

    uniform: float
    unigram: float


def yardsticks(trained: I64, examples: Sequence[Example], vocabulary: int) -> Yardsticks:
    """Score gold answers by token frequencies alone.

        p(t) = (count(t) + 1) / (N + V)

    Args:
        trained: the N supervised tokens of the training data.
        examples: gold answers, a label at each token that counts.
        vocabulary: V.

    Raises:
        ValueError: there are no gold answers.
    """
    if not examples:
        raise ValueError("no gold answers: nothing to score")
    counts = np.bincount(trained, minlength=vocabulary) + 1.0
    nll = -np.log(counts / counts.sum())
    means = [float(nll[example.labels[example.labels != IGNORED]].mean()) for example in examples]
    return Yardsticks(uniform=math.log(vocabulary), unigram=math.fsum(means) / len(means))
