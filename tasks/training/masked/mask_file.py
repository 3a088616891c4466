"""The masks of a data set in one Parquet file: made once, hashed, and read by every training run, whatever its seed."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from tasks.surprise.rows import I64, Bool, offsets_of
from tasks.training.masked.ground import Ground
from tasks.training.masked.maskings import MaskingUnfit

_FLAGS = pa.list_(pa.bool_())

TRAINED_MASKS = pa.schema(
    [
        pa.field("document_id", pa.string(), nullable=False),
        pa.field("group", pa.string()),
        pa.field("token_ids", pa.list_(pa.int32()), nullable=False),  # of the model to be trained, without BOS and EOS
        pa.field("supervised", _FLAGS, nullable=False),  # may carry loss
        pa.field("chat", pa.bool_(), nullable=False),  # only a part of it is supervised: no EOS is to be learnt
        # Flags of each masking, in the order of their names in the file's metadata.
        pa.field("masks", pa.list_(_FLAGS), nullable=False),
    ]
)
_NAMES, _SCORES, _TOKENIZER = b"maskings", b"scores_sha256", b"tokenizer_sha256"


@dataclass(frozen=True, eq=False)
class MaskTable:
    """R documents of N tokens, as they are trained on.

    Attributes:
        ids: of the documents.
        tokens: token ids, shape (N,).
        row_offsets: shape (R + 1,).
        supervised: may carry loss, shape (N,).
        is_chat: only a part of the document is supervised, shape (R,).
        masks: by the name of the masking, selected tokens, shape (N,) each.
        tokenizer_sha256: of the tokenizer that the model must have.
    """

    ids: list[str]
    tokens: I64
    row_offsets: I64
    supervised: Bool
    is_chat: Bool
    masks: Mapping[str, Bool]
    tokenizer_sha256: str

    @classmethod
    def of(cls, ground: Ground, masks: Mapping[str, Bool]) -> Self:
        """Put the masks of a ground into a table."""
        is_chat = [document.supervised is not None for document in ground.documents]
        return cls(
            [document.id for document in ground.documents],
            ground.tokens.ids,
            ground.tokens.row_offsets,
            ground.supervised,
            np.array(is_chat, dtype=np.bool_),
            masks,
            ground.tokenizer_sha256,
        )

    @classmethod
    def read(cls, path: Path, wanted: Collection[str] = ()) -> Self:
        """Read a file of ``mask_writer``, part by part; of the masks those that are wanted.

        Raises:
            MaskingUnfit: it is another kind of table, or has no masking of that name.
        """
        with pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            metadata = schema.metadata or {}
            if not schema.equals(TRAINED_MASKS) or _NAMES not in metadata:
                raise MaskingUnfit(f"{path}: not a table of masks for training: `privasis train masked` writes one")
            names = metadata[_NAMES].decode().splitlines()
            if strange := [name for name in wanted if name not in names]:
                raise MaskingUnfit(f"no masking {strange[0]} in the file, only {', '.join(names)}")
            sha256 = metadata[_TOKENIZER].decode()
            parts = [
                cls._part(file.read_row_group(number), names, wanted, sha256) for number in range(file.num_row_groups)
            ]
        nothing = np.empty(0, dtype=np.bool_)
        return cls(
            [id_ for part in parts for id_ in part.ids],
            np.concatenate([np.empty(0, dtype=np.int64), *(part.tokens for part in parts)]),
            offsets_of(np.concatenate([np.empty(0, dtype=np.int64), *(np.diff(part.row_offsets) for part in parts)])),
            np.concatenate([nothing, *(part.supervised for part in parts)]),
            np.concatenate([nothing, *(part.is_chat for part in parts)]),
            {name: np.concatenate([nothing, *(part.masks[name] for part in parts)]) for name in wanted},
            sha256,
        )

    @classmethod
    def _part(cls, table: pa.Table, names: Sequence[str], wanted: Collection[str], tokenizer_sha256: str) -> Self:
        tokens, offsets = _lists(table["token_ids"])
        of_all, _ = _lists(table["masks"])
        masks = {}
        for name in wanted:
            flags, _ = _lists(of_all.take(pa.array(np.arange(names.index(name), len(of_all), len(names)))))
            masks[name] = _flags(flags)
        return cls(
            table["document_id"].to_pylist(),
            np.asarray(tokens.to_numpy(), dtype=np.int64),
            offsets,
            _flags(_lists(table["supervised"])[0]),
            _flags(table["chat"]),
            masks,
            tokenizer_sha256,
        )

    def rows(self, groups: Iterable[str | None]) -> pa.Table:
        """Return the rows of a part of the file."""
        offsets = pa.array(self.row_offsets, type=pa.int32())
        rows = self.row_offsets.size - 1
        # Document by document, and in each masking by masking.
        order = np.concatenate(
            [
                np.arange(first, last) + place * self.tokens.size
                for first, last in zip(self.row_offsets[:-1], self.row_offsets[1:], strict=True)
                for place in range(len(self.masks))
            ]
            or [np.empty(0, dtype=np.int64)]
        )
        flat = np.concatenate([np.empty(0, dtype=np.bool_), *self.masks.values()])[order]
        inner = offsets_of(np.repeat(np.diff(self.row_offsets), len(self.masks)))
        flags = pa.ListArray.from_arrays(pa.array(inner, type=pa.int32()), pa.array(flat, type=pa.bool_()))
        outer = pa.array(np.arange(rows + 1) * len(self.masks), type=pa.int32())
        columns = [
            pa.array(self.ids, pa.string()),
            pa.array(list(groups), pa.string()),
            pa.ListArray.from_arrays(offsets, pa.array(self.tokens, type=pa.int32())),
            pa.ListArray.from_arrays(offsets, pa.array(self.supervised)),
            pa.array(self.is_chat),
            pa.ListArray.from_arrays(outer, flags),
        ]
        return pa.Table.from_arrays(columns, schema=TRAINED_MASKS)

    def mask(self, name: str) -> Bool:
        """Return the tokens that a masking selects, shape (N,).

        Raises:
            MaskingUnfit: there is no such masking.
        """
        if name not in self.masks:
            raise MaskingUnfit(f"no masking {name} in the file, only {', '.join(self.masks)}")
        return self.masks[name]


@contextmanager
def mask_writer(
    path: Path, names: Iterable[str], scores_sha256: str, tokenizer_sha256: str
) -> Iterator[Callable[[pa.Table], None]]:
    """Write a file part by part: the same rows in the same parts, the same bytes.

    Args:
        path: of the file.
        names: of all maskings, in the order of each row's masks.
        scores_sha256: of the scores that they are made of.
        tokenizer_sha256: of the tokenizer that the model must have.
    """
    about = {_NAMES: "\n".join(names), _SCORES: scores_sha256, _TOKENIZER: tokenizer_sha256}
    schema = TRAINED_MASKS.with_metadata(about)
    with pq.ParquetWriter(path, schema) as writer:
        yield lambda rows: writer.write_table(rows.replace_schema_metadata(about))


def _lists(column: pa.ChunkedArray | pa.Array) -> tuple[pa.Array, I64]:
    joined = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    return joined.flatten(), offsets_of(np.asarray(joined.value_lengths().to_numpy(), dtype=np.int64))


def _flags(column: pa.ChunkedArray | pa.Array) -> Bool:
    return np.asarray(
        column.to_numpy(zero_copy_only=False) if isinstance(column, pa.Array) else column.to_numpy()
    ).astype(np.bool_)
