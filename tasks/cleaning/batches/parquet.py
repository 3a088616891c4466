"""A column of a Parquet file: the rows and the other columns stay as they are."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import pyarrow as pa
import pyarrow.parquet as pq

from tasks.cleaning.batches.document import PART, BatchUnusable, Document, Outcome, hidden, rejects_beside

SUFFIX = ".parquet"
REJECTS = pa.schema(
    [
        pa.field("row", pa.int64(), nullable=False),  # of the source, from 0
        pa.field("reason", pa.string(), nullable=False),
        pa.field("detail", pa.string(), nullable=False),  # may quote the text
    ]
)


class ParquetBatch:
    """Every row of the source is a row of the target; the column is null where the text was not cleaned."""

    def __init__(self, source: Path, target: Path, column: str) -> None:
        """Open both.

        Raises:
            BatchUnusable: the source is no Parquet file, or has no such column of texts.
        """
        self._target, self._column = target, column
        try:
            self._source = pq.ParquetFile(source)
        except pa.ArrowInvalid as error:
            raise BatchUnusable(f"{source}: cannot be read as Parquet: {error}") from error
        schema = self._source.schema_arrow
        place = schema.get_field_index(column)
        if place < 0:
            raise BatchUnusable(f"{source}: no column {column!r}, or several; there are {', '.join(schema.names)}")
        field = schema.field(place)
        if not (pa.types.is_string(field.type) or pa.types.is_large_string(field.type)):
            raise BatchUnusable(f"{source}: column {column!r} holds {field.type}, and has to hold texts")
        self._schema = schema.set(place, field.with_nullable(True))
        self._place = place
        self._rows: pa.RecordBatch = None
        self._rejects: list[dict[str, object]] = []
        self._writer = pq.ParquetWriter(hidden(target), self._schema, compression="zstd")

    def parts(self) -> Iterator[Sequence[Document]]:
        """See ``Batch.parts``."""
        done = 0
        for rows in self._source.iter_batches(PART):
            self._rows = rows
            texts = rows.column(self._place).to_pylist()
            yield [Document(str(done + number), text) for number, text in enumerate(texts)]
            done += len(texts)

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """See ``Batch.write``."""
        columns = list(self._rows.columns)
        columns[self._place] = pa.array([each.text for each in outcomes], self._schema.field(self._place).type)
        self._writer.write_batch(pa.record_batch(columns, schema=self._schema))
        self._rejects += [
            {"row": int(each.document.name), "reason": each.failure.reason, "detail": each.failure.detail}
            for each in outcomes
            if each.failure is not None
        ]

    def finish(self) -> None:
        """See ``Batch.finish``."""
        self._writer.close()
        rejects = rejects_beside(self._target, SUFFIX)
        pq.write_table(pa.Table.from_pylist(self._rejects, REJECTS), hidden(rejects))
        hidden(rejects).replace(rejects)
        hidden(self._target).replace(self._target)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._source.close()
        self._writer.close()
        for path in (self._target, rejects_beside(self._target, SUFFIX)):
            hidden(path).unlink(missing_ok=True)
