"""Features of windows for a combined score (SM D.4), computed from their names, so that a policy can name them."""

from collections.abc import Mapping, Sequence

import numpy as np

from tasks.surprise.evaluation.notation import Misspelled, Reading
from tasks.surprise.procedure import Batch
from tasks.surprise.rows import F64, Scores, offsets_of, ranges
from tasks.surprise.scores import mean_scores, top_scores
from tasks.surprise.segments import lines, tile
from tasks.surprise.windows import Windows, tiled_windows


def features_of(
    names: Sequence[str], readings: Mapping[Reading, Scores], batch: Batch, windows: Windows
) -> dict[str, F64]:
    """Score the windows once for each feature.

    A feature is called READING, READING:top:N or READING:lines, READING one of plain, prompted and contrast: the mean
    token score of the window, that of its N largest, or the highest mean of a line that the window shares a token
    with.

    Args:
        names: of the features.
        readings: scores of the tokens, shape (N,) each.
        batch: the tokens; its texts for lines.
        windows: over them, shape (W,).

    Returns:
        Shape (W,) for each name; NaN where a window has no valid score.

    Raises:
        Misspelled: no feature is called that, or its reading is not among ``readings``.
    """
    return {name: _feature(name, readings, batch, windows) for name in names}


def reading_of(feature: str) -> Reading:
    """Say which scores a feature reads.

    Raises:
        Misspelled: no feature is called that.
    """
    match feature.split(":"):
        case [("plain" | "prompted" | "contrast") as reading, *rest] if rest in ([], ["lines"]) or _is_top(rest):
            return reading
    raise Misspelled(
        f"feature {feature!r}: give READING, READING:top:N or READING:lines, such as contrast or plain:lines"
    )


def _is_top(rest: Sequence[str]) -> bool:
    return len(rest) == 2 and rest[0] == "top" and rest[1].isdecimal() and int(rest[1]) >= 1


def _feature(name: str, readings: Mapping[Reading, Scores], batch: Batch, windows: Windows) -> F64:
    reading = reading_of(name)
    if reading not in readings:
        raise Misspelled(f"feature {name!r}: the texts have no {reading} scores, only {', '.join(readings)}")
    match name.split(":"):
        case [_]:
            return mean_scores(readings[reading], windows)
        case [_, "top", count]:
            return top_scores(readings[reading], windows, int(count))
        case _:
            return _highest_line(readings[reading], batch, windows)


def _highest_line(scores: Scores, batch: Batch, windows: Windows) -> F64:
    """The highest mean of a line that shares a token with the window; lines without a valid score are passed over."""
    if batch.texts is None:
        raise ValueError("a feature of lines needs a batch with its texts")
    cut = tiled_windows(batch.tokens, tile(batch.texts, lines)).windows
    of_lines = mean_scores(scores, cut)
    line_of = np.repeat(np.arange(cut.size), cut.stop - cut.first)
    first, last = line_of[windows.first], line_of[windows.stop - 1]
    laid_out = of_lines[ranges(first, last - first + 1)]
    highest = np.empty(windows.size)
    if windows.size:
        highest = np.fmax.reduceat(laid_out, offsets_of(last - first + 1)[:-1])
    return highest
