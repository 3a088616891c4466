"""The best label sequence of each of many texts, all of them advancing together."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from tasks.surprise.rows import F64, I64, Bool

F32 = npt.NDArray[np.float32]
I16 = npt.NDArray[np.int16]


def best_paths(emitted: Sequence[F32], transitions: F64, may_begin: Bool, may_end: Bool) -> list[I64]:
    """Find the label sequence of the highest total score of each text.

        argmax over y of  sum_t e_t(y_t) + sum_t b(y_{t-1}, y_t)

    Scores of paths are added up in float64. Of equal paths, the one whose last differing label has the lower number.

    Args:
        emitted: score of each label at each token, shape (T, L) for each text; T may be 0.
        transitions: score of each label after each other, shape (L, L); -inf where it may not follow.
        may_begin: labels that a sequence may begin with, shape (L,).
        may_end: labels that it may end with, shape (L,).

    Returns:
        Labels of each text, shape (T,) each.

    Raises:
        ValueError: a score is not finite.
    """
    _check(emitted)
    order = [text for text in sorted(range(len(emitted)), key=lambda text: -len(emitted[text])) if len(emitted[text])]
    paths: list[I64] = [np.zeros(0, dtype=np.int64) for _ in emitted]
    if not order:
        return paths
    scores, back = _advance([emitted[text] for text in order], transitions, may_begin)
    scores[:, ~may_end] = -np.inf
    for rank, text in enumerate(order):
        labels = [int(scores[rank].argmax())]
        for best in reversed(back[: len(emitted[text]) - 1]):
            labels.append(int(best[rank, labels[-1]]))
        paths[text] = np.array(labels[::-1], dtype=np.int64)
    return paths


def _advance(emitted: Sequence[F32], transitions: F64, may_begin: Bool) -> tuple[F64, list[I16]]:
    """Go through texts, the longest first: score of the best path to each last label, and how it came there.

    Returns:
        Scores, shape (R, L); and for each place but the first the label before each label, shape (texts that reach it,
        L).
    """
    scores = np.where(may_begin, np.array([text[0] for text in emitted], dtype=np.float64), -np.inf)
    back: list[I16] = []
    running = len(emitted)
    for place in range(1, len(emitted[0])):
        while len(emitted[running - 1]) <= place:
            running -= 1
        steps = scores[:running, :, None] + transitions
        best = steps.argmax(axis=1)
        back.append(best.astype(np.int16))  # one for each label of each token: most of what is held
        here = np.array([text[place] for text in emitted[:running]], dtype=np.float64)
        scores[:running] = np.take_along_axis(steps, best[:, None], axis=1)[:, 0] + here
    return scores, back


def _check(emitted: Sequence[F32]) -> None:
    for text, scores in enumerate(emitted):
        finite = np.isfinite(scores).all(axis=1)
        if not finite.all():
            raise ValueError(f"text {text}: token {int(finite.argmin())} has a score that is no finite number")
