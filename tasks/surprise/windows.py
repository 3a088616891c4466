"""Windows of tokens (SM section 2, step 1): what one surprise score is computed over."""

from dataclasses import dataclass

import numpy as np

from tasks.surprise.rows import I64, Bool, check_offsets, check_sizes, offsets_of, row_numbers
from tasks.surprise.spans import Spans, keys, stride_of
from tasks.surprise.tokens import Tokens


@dataclass(frozen=True, eq=False)
class Windows:
    """Intervals of tokens, in reading order within each record; none is empty, none crosses a record.

    Attributes:
        first: flat index of the first token of each window, shape (W,).
        stop: one past its last token, shape (W,).
        row_offsets: windows of each record, shape (R + 1,).
        width: tokens in every window where they are the windows of one fixed width, else None.
    """

    first: I64
    stop: I64
    row_offsets: I64
    width: int | None = None

    def __post_init__(self) -> None:
        check_sizes("window starts", self.first.size, {"window ends": self.stop.size})
        check_offsets(self.row_offsets, self.first.size, "windows")

    @property
    def size(self) -> int:
        """W, the number of windows."""
        return self.first.size


@dataclass(frozen=True, eq=False)
class PieceWindows:
    """Windows made from pieces of text, and which window each piece became a part of.

    ``window_of`` has shape (S,); -1 where a piece has no token, because the text was cut before it.
    """

    windows: Windows
    window_of: I64


def fixed_windows(row_offsets: I64, width: int) -> Windows:
    """All windows ``{i, ..., i + n - 1}`` of ``width`` n; a record of fewer than n tokens has none.

    Args:
        row_offsets: tokens of each record, shape (R + 1,).
        width: n, at least 1.

    Raises:
        ValueError: ``width`` is below 1.
    """
    if width < 1:
        raise ValueError(f"windows of {width} tokens: at least 1 is needed")
    counts = np.maximum(np.diff(row_offsets) - (width - 1), 0)
    offsets = offsets_of(counts)
    first = np.arange(offsets[-1])
    first += np.repeat(row_offsets[:-1] - offsets[:-1], counts)
    return Windows(first, first + width, offsets, width)


def whole_windows(row_offsets: I64, supervised: Bool) -> Windows:
    """One window a record, from its first to its last token that may be masked: the whole completion.

    Args:
        row_offsets: tokens of each record, shape (R + 1,).
        supervised: True where a token may be masked, shape (N,); records without such a token have no window.
    """
    check_sizes("tokens", int(row_offsets[-1]), {"supervised": supervised.size})
    at = np.flatnonzero(supervised)
    bounds = np.searchsorted(at, row_offsets)
    held = np.diff(bounds) > 0
    return Windows(at[bounds[:-1][held]], at[bounds[1:][held] - 1] + 1, offsets_of(held.astype(np.int64)))


def tiled_windows(tokens: Tokens, pieces: Spans) -> PieceWindows:
    """Windows of pieces that tile their texts: lines, sentences, segments (``segments.tile``).

    A token belongs to the piece that holds its first character, so that every token is in exactly one window. A piece
    in which no token begins (a blank line inside a token that spans it) joins the window of the token that
    covers it: there is no window of no tokens, and every character up to where the text was cut is in exactly one.

    Raises:
        ValueError: the pieces do not tile the texts of the tokens; the row is named.
    """
    _check_tiling(tokens, pieces)
    stride = stride_of(tokens.spans, pieces)
    token_start, token_end = keys(tokens.spans, stride)
    piece_start, _ = keys(pieces, stride)
    piece = np.searchsorted(piece_start, token_start, side="right") - 1
    opens = np.ones(piece.size, dtype=np.bool_)
    opens[1:] = piece[1:] != piece[:-1]
    opens[tokens.row_offsets[:-1][np.diff(tokens.row_offsets) > 0]] = True
    first = np.flatnonzero(opens)
    windows = _within_rows(first, np.append(first[1:], piece.size)[: first.size], tokens.row_offsets)
    # The row's last window of this piece or an earlier one covers it, unless its tokens end before the piece begins. A
    # later row without a piece may still have a token: its window is in no piece, though the search finds it in the
    # last one before it.
    window_of = np.searchsorted(piece[first], np.arange(piece_start.size), side="right") - 1
    window_of = np.minimum(window_of, windows.row_offsets[1:][row_numbers(pieces.row_offsets)] - 1)
    reached = (window_of >= 0) & (token_end[windows.stop[window_of] - 1] > piece_start) if first.size else False
    return PieceWindows(windows, np.where(reached, window_of, -1))


def span_windows(tokens: Tokens, spans: Spans) -> PieceWindows:
    """Windows of spans that somebody marked: document fields, chat responses.

    A token belongs to every span that it overlaps, so that the token across a span's border is in. Windows keep the
    order of the spans; a span without a token (empty, or cut off) has none.

    Raises:
        ValueError: the spans are not of the same rows as the tokens.
    """
    check_sizes("rows of tokens", tokens.spans.rows, {"rows of spans": spans.rows})
    stride = stride_of(tokens.spans, spans)
    token_start, token_end = keys(tokens.spans, stride)
    start, end = keys(spans, stride)
    first = np.searchsorted(token_end, start, side="right")
    stop = np.searchsorted(token_start, end, side="left")
    held = (first < stop) & (start < end)
    row = row_numbers(spans.row_offsets)
    counts = np.bincount(row[held], minlength=spans.rows)
    windows = Windows(first[held], stop[held], offsets_of(counts))
    return PieceWindows(windows, np.where(held, np.cumsum(held) - 1, -1))


def _within_rows(first: I64, stop: I64, row_offsets: I64) -> Windows:
    return Windows(first, stop, np.searchsorted(first, row_offsets))


def _check_tiling(tokens: Tokens, pieces: Spans) -> None:
    check_sizes("rows of tokens", tokens.spans.rows, {"rows of pieces": pieces.rows})
    counts = np.diff(pieces.row_offsets)
    expected = np.append(0, pieces.end[:-1])[: pieces.start.size]  # each begins where the one before it ends,
    expected[pieces.row_offsets[:-1][counts > 0]] = 0  # the first of a row at 0
    wrong = np.flatnonzero((pieces.start != expected) | (pieces.end <= pieces.start))
    if wrong.size:
        at = int(wrong[0])
        row = int(row_numbers(pieces.row_offsets)[at])
        raise ValueError(f"row {row}: piece [{pieces.start[at]}, {pieces.end[at]}) leaves a gap, overlaps or is empty")
    ends = np.zeros(pieces.rows, dtype=np.int64)
    ends[counts > 0] = pieces.end[pieces.row_offsets[1:][counts > 0] - 1]
    token_row = row_numbers(tokens.row_offsets)
    late = np.flatnonzero(tokens.spans.end > ends[token_row])
    if late.size:
        row = int(token_row[late[0]])
        raise ValueError(f"row {row}: a token ends at {tokens.spans.end[late[0]]}, the pieces at {ends[row]}")
