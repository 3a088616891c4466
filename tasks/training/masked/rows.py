"""What a trainer reads: rows of packed pieces, with what is learnt, how much it counts and what is seen kept apart."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from tasks.surprise.rows import I64, Bool
from tasks.training.examples import F32, I32

ROWS = pa.schema(
    [
        pa.field("documents", pa.list_(pa.string()), nullable=False),  # of each piece
        pa.field("pieces", pa.list_(pa.int32()), nullable=False),  # tokens of each; attention stays within a piece
        pa.field("ids", pa.list_(pa.int32()), nullable=False),
        pa.field("labels", pa.list_(pa.int32()), nullable=False),  # the token itself, or IGNORED; not shifted
        pa.field("loss_weight", pa.list_(pa.float32()), nullable=False),  # of the loss of predicting the token
        pa.field("attention_block", pa.list_(pa.bool_()), nullable=False),  # true: no other token attends to it
        pa.field("selected", pa.list_(pa.bool_()), nullable=False),  # by the masking, and supervised
    ]
)
_ARRAYS = ("ids", "labels", "loss_weight", "attention_block", "selected")


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """Pieces of documents end to end, T tokens in all.

    Attributes:
        documents: id of the document of each piece.
        pieces: tokens of each piece, T in all.
        ids: tokens, shape (T,).
        labels: the token where it is supervised, else ``IGNORED``, shape (T,). The first of a piece never is.
        loss_weight: how much the loss of predicting the token counts, shape (T,); 0 where ``labels`` is ``IGNORED``.
        attention_block: invisible to all other tokens, shape (T,).
        selected: by the masking, shape (T,); where gradients have two parts, these tokens' are one of them.
    """

    documents: tuple[str, ...]
    pieces: tuple[int, ...]
    ids: I32
    labels: I32
    loss_weight: F32
    attention_block: Bool
    selected: Bool


class RowFile:
    """Rows in a file that is mapped into memory: the processes of a machine share what they read of it.

    Attributes:
        lengths: tokens of each row, shape (n,).
        supervised: tokens of each row that have a label, shape (n,): what losses are divided by.
    """

    def __init__(self, path: Path) -> None:
        """Open a file that ``encoded`` has made.

        Raises:
            OSError: there is none.
        """
        with pa.ipc.open_file(pa.memory_map(str(path))) as reader:
            self._table = reader.read_all().combine_chunks()
        offsets = np.asarray(self._table["ids"].chunk(0).offsets.to_numpy(), dtype=np.int64)
        labels = np.asarray(self._table["labels"].chunk(0).values.to_numpy())
        counted = np.concatenate([[0], np.cumsum(labels >= 0)])
        self.lengths: I64 = np.diff(offsets)
        self.supervised: I64 = np.diff(counted[offsets])

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, place: int) -> Row:
        def array(name: str) -> npt.NDArray[Any]:
            found: npt.NDArray[Any] = self._table[name][place].values.to_numpy(zero_copy_only=False)
            return found

        documents, pieces = (tuple(self._table[name][place].as_py()) for name in ("documents", "pieces"))
        return Row(documents, pieces, *map(array, _ARRAYS))


def encoded(rows: Iterable[Row]) -> bytes:
    """Return the bytes of a file of rows, at least one: the same rows, the same bytes."""
    held = list(rows)
    columns = [
        pa.array([getattr(row, field.name) for row in held], field.type)  # in the order of the schema
        for field in ROWS
    ]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, ROWS) as writer:
        writer.write_table(pa.table(columns, ROWS), max_chunksize=max(1, len(held)))
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
