"""Judgements on disk: a journal for each reviewer that only grows. What was answered for is never lost."""

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from infra.shards import files
from infra.shards.journal import Journal, read_events
from tasks.reviewing.judgements import Judgement

SUFFIX = ".journal"


@dataclass(frozen=True, slots=True)
class JudgementLog:
    """All judgements of a review, in a folder of journals.

    Several threads and processes may append at once: a server and an import do.
    """

    folder: Path

    def append(self, reviewer: str, judgements: Sequence[Judgement]) -> None:
        """Add judgements; on return they are on the disk, whatever happens next. A torn tail is cut first.

        Raises:
            OSError: the disk is full or fails; some of them may be there.
            JournalCorrupt: the file is damaged other than by a torn tail.
        """
        with self._locked(reviewer), Journal(self._path(reviewer)) as journal:
            for number, judgement in enumerate(judgements, len(journal)):
                journal.append(str(number), judgement.model_dump_json().encode())

    def read(self, reviewer: str) -> list[Judgement]:
        """Return the judgements of ``reviewer``, oldest first, changed ones more than once.

        Raises:
            JournalCorrupt: the file is damaged other than by a torn tail.
        """
        return [Judgement.model_validate_json(body) for body in read_events(self._path(reviewer)).values()]

    def _path(self, reviewer: str) -> Path:
        return self.folder / f"{reviewer}{SUFFIX}"

    @contextmanager
    def _locked(self, reviewer: str) -> Iterator[None]:
        files.make_directory(self.folder)
        descriptor = os.open(self.folder / f".{reviewer}.lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)  # and with it the lock
