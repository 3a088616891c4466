"""A field of the objects in a JSON Lines file: the lines and the other fields stay as they are."""

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any, Self

from tasks.cleaning.batches.document import PART, Document, Outcome, hidden, rejects_beside
from tasks.cleaning.batches.rejects import write_line, write_rejects
from tasks.cleaning.failure import CleaningFailed

SUFFIX = ".jsonl"


class JsonlBatch:
    """Every line of the source is a line of the target; the field is null where the text was not cleaned."""

    def __init__(self, source: Path, target: Path, field: str) -> None:
        """Open all files."""
        self._field = field
        self._targets = (rejects_beside(target, SUFFIX), target)
        self._rows: list[dict[str, Any]] = []
        with ExitStack() as stack:
            self._source = stack.enter_context(source.open("rb"))
            self._rejects, self._clean = (
                stack.enter_context(hidden(path).open("w", encoding="utf-8")) for path in self._targets
            )
            self._files = stack.pop_all()

    def parts(self) -> Iterator[Sequence[Document]]:
        """See ``Batch.parts``; a document is called by the number of its line, from 0. Blank lines are left out."""
        lines = ((number, line) for number, line in enumerate(self._source) if line.strip())
        while part := list(islice(lines, PART)):
            read = [self._read(str(number), line) for number, line in part]
            self._rows = [row for row, _ in read]
            yield [document for _, document in read]

    def _read(self, name: str, line: bytes) -> tuple[dict[str, Any], Document]:
        """Read one line; what is no object with a text is a row with nothing but an empty field."""
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):  # no JSON, no UTF-8, or nested beyond measure
            return {}, Document(name, None, CleaningFailed("not_json", "the line is not JSON"))
        if not isinstance(row, dict) or not isinstance(row.get(self._field, 0), str | None):
            kind = "no object" if not isinstance(row, dict) else f"an object without a text {self._field!r}"
            return {}, Document(name, None, CleaningFailed("no_text", f"the line is {kind}"))
        return row, Document(name, row[self._field])

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """See ``Batch.write``."""
        for row, each in zip(self._rows, outcomes, strict=True):
            write_line(self._clean, row | {self._field: each.text})
        write_rejects(self._rejects, outcomes, "row")

    def finish(self) -> None:
        """See ``Batch.finish``."""
        self._files.close()
        for path in self._targets:  # the clean texts last
            hidden(path).replace(path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._files.close()
        for path in self._targets:
            hidden(path).unlink(missing_ok=True)
