"""What is counted: tokens, characters or pieces of text, each with its level and whether it is a target."""

from dataclasses import dataclass

import numpy as np

from tasks.surprise.levels import character_levels
from tasks.surprise.piles import Piles
from tasks.surprise.project import touched
from tasks.surprise.rows import F64, I64, Bool, check_sizes, offsets_of, ranges
from tasks.surprise.spans import Spans, flags, overlaps
from tasks.surprise.tokens import Tokens
from tasks.surprise.windows import PieceWindows


@dataclass(frozen=True, eq=False)
class Units:
    """Units of one kind: ``levels`` in the sense of ``levels``, -inf for never masked; ``target`` is the label."""

    levels: F64  # (U,)
    target: Bool  # (U,)

    def __post_init__(self) -> None:
        check_sizes("unit levels", self.levels.size, {"unit targets": self.target.size})
        if np.isnan(self.levels).any():
            raise ValueError(f"unit {int(np.argmax(np.isnan(self.levels)))}: level NaN; -inf is for units never masked")

    def only(self, kept: Bool) -> "Units":
        """Restrict to the units of ``kept``, shape (U,): supervised ones, a group's, what another method left."""
        return Units(self.levels[kept], self.target[kept])

    def piles(self) -> Piles:
        """Count them by level."""
        return Piles.of(self.levels, self.target)


def token_units(tokens: Tokens, levels: F64, targets: Spans) -> Units:
    """Tokens; one is a target if it shares a character with a labelled span.

    Args:
        tokens: of R texts.
        levels: of the tokens, shape (N,).
        targets: labelled spans of the same texts.
    """
    return Units(levels, touched(tokens, targets))


def character_units(tokens: Tokens, levels: F64, targets: Spans, lengths: I64) -> Units:
    """Characters; overlapping labels count once, and characters past a cut are there and never masked.

    Args:
        tokens: of R texts.
        levels: of the tokens, shape (N,).
        targets: labelled spans of the same texts.
        lengths: code points of each text, shape (R,).
    """
    return Units(character_levels(tokens, levels, lengths), flags(targets, lengths))


def piece_units(levels: F64, made: PieceWindows, pieces: Spans, targets: Spans) -> Units:
    """Pieces of text: lines, sentences, whole completions.

    A piece is masked once every token of its window is, and a target if it shares a character with a labelled span.

    Args:
        levels: of the tokens, shape (N,).
        made: the windows of the pieces, from ``tiled_windows`` or ``span_windows``.
        pieces: shape (S,); those without a token count and are never masked.
        targets: labelled spans of the same texts.
    """
    check_sizes("pieces", pieces.start.size, {"windows of pieces": made.window_of.size})
    widths = made.windows.stop - made.windows.first
    of_windows = np.empty(0)
    if widths.size:
        of_windows = np.minimum.reduceat(levels[ranges(made.windows.first, widths)], offsets_of(widths)[:-1])
    held = made.window_of >= 0
    of_pieces = np.full(pieces.start.size, -np.inf)
    of_pieces[held] = of_windows[made.window_of[held]]
    return Units(of_pieces, overlaps(pieces, targets))
