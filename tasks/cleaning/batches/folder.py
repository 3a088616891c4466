"""All files of a folder and the folders in it: each clean text is a file of the same name."""

from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Self

from tasks.cleaning.batches.document import PART, BatchUnusable, Document, Outcome, hidden, rejects_beside
from tasks.cleaning.batches.rejects import write_rejects
from tasks.cleaning.decoding import NotText, decoded
from tasks.cleaning.failure import CleaningFailed


class FolderBatch:
    """Texts in UTF-8, a file each; hidden files are left out, links out of the folder are not followed.

    The files appear one by one as they are cleaned, each whole, and the table of rejects at the end.
    """

    def __init__(self, source: Path, target: Path) -> None:
        """Look for the files.

        Raises:
            BatchUnusable: there are none, or one folder lies within the other.
        """
        self._source, self._target = source.resolve(), target.resolve()
        if self._target.is_relative_to(self._source) or self._source.is_relative_to(self._target):
            raise BatchUnusable(f"{target}: lies within {source}, or the other way round: give a folder of its own")
        self._paths = sorted(self._found())
        if not self._paths:
            raise BatchUnusable(f"{source}: no files in it")
        self._rejects_path = rejects_beside(self._target, "")
        self._target.parent.mkdir(parents=True, exist_ok=True)
        self._rejects = hidden(self._rejects_path).open("w", encoding="utf-8")

    def _found(self) -> Iterator[Path]:
        for path in self._source.rglob("*"):
            inside = path.relative_to(self._source)
            if path.is_file() and not path.is_symlink() and not any(part.startswith(".") for part in inside.parts):
                yield inside

    def parts(self) -> Iterator[Sequence[Document]]:
        """See ``Batch.parts``; a document is called by its path within the folder."""
        left = iter(self._paths)
        while paths := list(islice(left, PART)):
            yield [self._read(path) for path in paths]

    def _read(self, path: Path) -> Document:
        try:
            text = decoded((self._source / path).read_bytes())
        except NotText as error:
            return Document(path.as_posix(), None, CleaningFailed("not_utf8", str(error)))
        return Document(path.as_posix(), text)

    def write(self, outcomes: Sequence[Outcome]) -> None:
        """See ``Batch.write``."""
        for each in outcomes:
            path = self._target / each.document.name
            if each.text is None:
                path.unlink(missing_ok=True)  # of an earlier run, by another request
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                hidden(path).write_bytes(each.text.encode())
                hidden(path).replace(path)
        write_rejects(self._rejects, outcomes, "file")

    def finish(self) -> None:
        """See ``Batch.finish``."""
        self._target.mkdir(exist_ok=True)  # though no text may have been cleaned
        self._rejects.close()
        hidden(self._rejects_path).replace(self._rejects_path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._rejects.close()
        hidden(self._rejects_path).unlink(missing_ok=True)
