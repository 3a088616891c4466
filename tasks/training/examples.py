"""What a trainer reads: token ids, and beside them, as columns of their own, what is learnt from each."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa

IGNORED = -100  # the label of a token that nothing is learnt from, as everywhere in PyTorch

I32 = npt.NDArray[np.int32]
F32 = npt.NDArray[np.float32]

EXAMPLES = pa.schema(
    [
        pa.field("example_id", pa.string(), nullable=False),
        pa.field("ids", pa.list_(pa.int32()), nullable=False),
        pa.field("labels", pa.list_(pa.int32()), nullable=False),  # the token itself, or IGNORED; not shifted
        pa.field("loss_weight", pa.list_(pa.float32()), nullable=False),  # of the loss of predicting the token
    ]
)


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """One text of T tokens.

    Attributes:
        id: of the record, for messages.
        ids: tokens, shape (T,).
        labels: the token where it is to be learnt, else ``IGNORED``, shape (T,). The first never is: nothing predicts
            it.
        loss_weight: how much the loss of predicting the token counts, shape (T,); 0 where ``labels`` is ``IGNORED``.
    """

    id: str
    ids: I32
    labels: I32
    loss_weight: F32


class ExampleFile:
    """Examples in a file that is mapped into memory: the processes of a machine share what they read of it.

    Attributes:
        lengths: tokens of each example, shape (n,).
        weights: sum of the loss weights of each example, shape (n,).
    """

    def __init__(self, path: Path) -> None:
        """Open a file that ``write`` has written.

        Raises:
            OSError: there is none.
        """
        with pa.ipc.open_file(pa.memory_map(str(path))) as reader:
            self._table = reader.read_all().combine_chunks()
        self.lengths = np.diff(self._offsets("ids"))
        sums = np.concatenate([[0.0], np.cumsum(self._values("loss_weight"), dtype=np.float64)])
        offsets = self._offsets("loss_weight")
        self.weights = sums[offsets[1:]] - sums[offsets[:-1]]

    def __len__(self) -> int:
        return len(self.lengths)

    def __getitem__(self, place: int) -> Example:
        return Example(
            self._table["example_id"][place].as_py(),
            *(self._table[name][place].values.to_numpy() for name in ("ids", "labels", "loss_weight")),
        )

    def _column(self, name: str) -> pa.ListArray:
        chunks = self._table[name].chunks
        return chunks[0] if chunks else pa.array([], EXAMPLES.field(name).type)

    def _offsets(self, name: str) -> npt.NDArray[np.int64]:
        return np.asarray(self._column(name).offsets.to_numpy(), dtype=np.int64)

    def _values(self, name: str) -> F32:
        return np.asarray(self._column(name).values.to_numpy(), dtype=np.float32)


def encoded(examples: Iterable[Example]) -> bytes:
    """Return the bytes of a file of examples: the same examples, the same bytes."""
    rows: Sequence[Example] = list(examples)
    arrays = [
        pa.array([row.id for row in rows], pa.string()),
        pa.array([row.ids for row in rows], pa.list_(pa.int32())),
        pa.array([row.labels for row in rows], pa.list_(pa.int32())),
        pa.array([row.loss_weight for row in rows], pa.list_(pa.float32())),
    ]
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, EXAMPLES) as writer:
        writer.write_table(pa.table(arrays, EXAMPLES), max_chunksize=max(1, len(rows)))
    return sink.getvalue().to_pybytes()  # type: ignore[no-any-return]
