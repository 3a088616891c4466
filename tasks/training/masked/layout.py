"""From masks to the rows that are trained on: an action decides what becomes of selected tokens (SM App. E.1)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from tasks.surprise.rows import I64, Bool
from tasks.training.examples import IGNORED
from tasks.training.masked.config import Action
from tasks.training.masked.mask_file import MaskTable
from tasks.training.masked.rows import Row

_OPEN_ROWS = 64  # that a piece may still go into
_SEED = 20  # of the order in which documents are packed: not a training seed's, so that all seeds have the same rows


@dataclass(frozen=True, slots=True)
class Ends:
    """Tokens around a text; a chat's template writes its own.

    Attributes:
        before: BOS, so that the first token of a text is learnt, too; None for models that have none.
        after: EOS, learnt, so that the model knows where a text ends; None for none.
    """

    before: int | None
    after: int | None


@dataclass(frozen=True, slots=True, eq=False)
class _Piece:
    """A stretch of a document of T tokens; the first is there to be seen, not to be predicted."""

    document: str
    ids: I64
    supervised: Bool
    selected: Bool


def rows_of(table: MaskTable, selected: Bool, action: Action, ends: Ends, length: int, *, pack: bool) -> list[Row]:
    """Lay documents out in rows of at most ``length`` tokens.

    A document of more tokens is cut into pieces, each beginning with the last token of the one before: so every
    supervised token is predicted exactly once. Attention and positions stay within a piece; one that has nothing to be
    predicted is left out.

    Args:
        table: N tokens.
        selected: by the masking, shape (N,).
        action: what becomes of them. ``filter`` leaves out every document that has one.
        ends: tokens around texts.
        length: of a row, at least 2.
        pack: put several pieces into a row, in an order that is the same for all seeds; else each is a row, in order.
    """
    pieces = list(_pieces(table, selected, action, ends, length))
    return [_row(group, action) for group in (_packed(pieces, length) if pack else [[each] for each in pieces])]


def _pieces(table: MaskTable, selected: Bool, action: Action, ends: Ends, length: int) -> Iterator[_Piece]:
    bounds = zip(table.ids, table.row_offsets[:-1].tolist(), table.row_offsets[1:].tolist(), strict=True)
    for (document, first, last), is_chat in zip(bounds, table.is_chat.tolist(), strict=True):
        chosen = selected[first:last]
        if action == "filter" and chosen.any():
            continue
        before = [] if is_chat or ends.before is None else [ends.before]
        after = [] if is_chat or ends.after is None else [ends.after]
        ids = np.concatenate([before, table.tokens[first:last], after]).astype(np.int64)
        supervised = np.concatenate([[False] * len(before), table.supervised[first:last], [True] * len(after)])
        chosen = np.concatenate([[False] * len(before), chosen, [False] * len(after)])
        for start in range(0, max(ids.size - 1, 1), length - 1):
            part = slice(start, start + length)
            if supervised[part][1:].any():
                yield _Piece(document, ids[part], supervised[part].astype(np.bool_), chosen[part].astype(np.bool_))


def _packed(pieces: Sequence[_Piece], length: int) -> list[list[_Piece]]:
    """Put each piece, in shuffled order, into the first of the open rows that has room for it."""
    order = np.random.default_rng(_SEED).permutation(len(pieces))
    rows: list[list[_Piece]] = []
    open_rows: list[tuple[int, int]] = []  # place in ``rows``, room left
    for piece in (pieces[place] for place in order):
        size = piece.ids.size
        at = next((at for at, (_, room) in enumerate(open_rows) if room >= size), None)
        if at is None:
            rows.append([piece])
            open_rows = [*open_rows[-_OPEN_ROWS + 1 :], (len(rows) - 1, length - size)]
        else:
            place, room = open_rows[at]
            rows[place].append(piece)
            open_rows[at] = place, room - size
    return rows


def _row(pieces: Sequence[_Piece], action: Action) -> Row:
    ids = np.concatenate([piece.ids for piece in pieces])
    selected = np.concatenate([piece.selected for piece in pieces])
    learnt = np.concatenate([piece.supervised for piece in pieces])
    sizes = [piece.ids.size for piece in pieces]
    learnt[np.cumsum([0, *sizes[:-1]])] = False  # nothing stands before the first token of a piece
    counts = learnt & ~selected if action in ("loss", "both") else learnt
    return Row(
        documents=tuple(piece.document for piece in pieces),
        pieces=tuple(sizes),
        ids=ids.astype(np.int32),
        labels=np.where(learnt, ids, IGNORED).astype(np.int32),
        loss_weight=counts.astype(np.float32),
        attention_block=selected if action in ("attention", "both") else np.zeros(ids.size, dtype=np.bool_),
        selected=selected,
    )
