"""One thing that a model reads; the scoring of it needs torch, transformers and this alone."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True, eq=False)
class Reading:
    """One window of one text in one pass.

    Attributes:
        inputs: token ids that the model is fed: lead and context, then all targets but the last, shape (n,).
        targets: token ids to score, predicted after the last m inputs, shape (m,), 1 <= m <= n.
        nll: where their scores go, in nats, shape (m,): a view of the text's array.
    """

    inputs: npt.NDArray[np.int32]
    targets: npt.NDArray[np.int32]
    nll: npt.NDArray[np.float32]
