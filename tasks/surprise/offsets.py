"""Tokenizers' character offsets, made fit for use: no hole, no empty interval, code points."""

from typing import Literal

import numpy as np

from tasks.surprise.rows import I64, check_offsets, check_sizes, row_numbers
from tasks.surprise.spans import Spans


def cover(start: I64, end: I64, row_offsets: I64, covered: I64) -> Spans:
    """Repair the offsets a tokenizer reports, so that the tokens of a row leave no character out.

    Tokens with characters reach to the start of the next such token, the first back to 0 and the last on to
    ``covered``: characters that a normaliser swallowed (NFD text through NFC) or that trimming cut off would belong
    to no token otherwise. Byte tokens that share the interval of one character go on sharing it.

    A token of an empty interval stands for the characters between its neighbours (a lone space reported as (0, 0)),
    and where there are none (a prefix space, an end mark) for both neighbours themselves: so it is masked when one of
    them is, and an empty interval never unmasks anything.

    Args:
        start: first code point of each token as reported, shape (N,).
        end: one past its last, shape (N,).
        row_offsets: tokens of each text, shape (R + 1,).
        covered: code points of each text that the tokens stand for, shape (R,): its length, or the end of the last
            token where the text was cut at a context limit.

    Returns:
        Intervals whose starts and ends never fall within a row.

    Raises:
        ValueError: intervals out of reading order, negative, or past ``covered``; row and token are named.
    """
    check_sizes("tokens", start.size, {"token ends": end.size})
    check_offsets(row_offsets, start.size, "tokens")
    check_sizes("rows of tokens", row_offsets.size - 1, {"covered": covered.size})
    row = row_numbers(row_offsets)
    _check_order(start, end, row, row_offsets, covered)
    real = np.flatnonzero(end > start)
    wide_start, wide_end = _stretched(start[real], end[real], row[real], covered)
    new_start, new_end = start.astype(np.int64), end.astype(np.int64)
    new_start[real], new_end[real] = wide_start, wide_end

    empty = np.flatnonzero(end <= start)
    after = np.searchsorted(real, empty)  # the next token with characters, and before it the previous one
    home = row[empty]
    has_next = (after < real.size) & (_at(row[real], after) == home)
    has_previous = (after > 0) & (_at(row[real], after - 1) == home)
    left = np.where(has_previous, _at(end[real], after - 1), 0)
    right = np.where(has_next, _at(start[real], after), covered[home])
    gap = left < right
    first = np.where(has_previous, _at(wide_start, after - 1), 0)
    last = np.where(has_next, _at(wide_end, after), covered[home])
    new_start[empty] = np.where(gap, left, first)
    new_end[empty] = np.where(gap, right, last)
    return Spans(new_start, new_end, row_offsets)


def _stretched(start: I64, end: I64, row: I64, covered: I64) -> tuple[I64, I64]:
    """Stretch non-empty intervals, in reading order, over the holes between them."""
    if start.size == 0:
        return start, end
    last_of_row = np.append(row[1:] != row[:-1], True)
    following = np.where(last_of_row, covered[row], np.append(start[1:], 0))
    reach = np.maximum(end, following)
    ends_run = np.append((row[1:] != row[:-1]) | (end[1:] != end[:-1]), True)
    run = np.cumsum(ends_run) - ends_run  # tokens with one end: the bytes of a character reach equally far
    first_of_row = np.append(True, last_of_row[:-1])
    opening = np.repeat(start[first_of_row], np.diff(np.append(np.flatnonzero(first_of_row), start.size)))
    return np.where(start == opening, 0, start), reach[ends_run][run]


def _at(values: I64, index: I64) -> I64:
    """``values[index]``, with 0 for places outside: the caller asks for neighbours that may not exist."""
    if values.size == 0:
        return np.zeros(index.size, dtype=np.int64)
    inside = (index >= 0) & (index < values.size)
    return np.where(inside, values[np.clip(index, 0, values.size - 1)], 0)


def _check_order(start: I64, end: I64, row: I64, row_offsets: I64, covered: I64) -> None:
    real = np.flatnonzero(end > start)
    falls = (start[real][1:] < start[real][:-1]) | (end[real][1:] < end[real][:-1])
    backwards = np.zeros(start.size, dtype=np.bool_)
    backwards[real[1:]] = falls & (row[real][1:] == row[real][:-1])
    checks = {
        "is no interval": (start < 0) | (end < start),
        "ends after the {} code points that the tokens stand for": end > covered[row],
        "stands before the token that precedes it": backwards,
    }
    for what, wrong in checks.items():
        if wrong.any():
            at = int(np.argmax(wrong))
            place = f"row {row[at]}, token {at - row_offsets[row[at]]}"
            raise ValueError(
                f"{place}: [{start[at]}, {end[at]}) {what.format(covered[row[at]])}:"
                " take the offsets from the tokenizer run over this very text"
            )


def code_points(text: str, start: I64, end: I64, unit: Literal["utf-8", "utf-16"]) -> tuple[I64, I64]:
    """Turn intervals of UTF-8 bytes or UTF-16 units into intervals of code points.

    An interval that begins or ends inside a character (a byte token) is widened to the whole character.

    Args:
        text: the text; lone surrogates are allowed.
        start: shape (S,), in ``unit``.
        end: shape (S,), at least ``start``.
        unit: what the intervals count.

    Raises:
        ValueError: an interval ends after the text.
    """
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
    if unit == "utf-8":
        widths = 1 + (points > 0x7F).astype(np.int64) + (points > 0x7FF) + (points > 0xFFFF)
    else:
        widths = 1 + (points > 0xFFFF).astype(np.int64)
    point_at = np.append(np.repeat(np.arange(points.size), widths), points.size)
    if end.size and end.max() >= point_at.size:
        raise ValueError(f"an interval ends at {int(end.max())}, but the text has {point_at.size - 1} {unit} units")
    first = point_at[start]
    return first, np.where(end > start, point_at[np.maximum(end, 1) - 1] + 1, first)
