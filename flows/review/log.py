"""Judgements on disk: a journal for each reviewer that only grows. What was answered for is never lost."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from infra.shards.folder_lock import folder_locked
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
        with folder_locked(self.folder, wait=True), Journal(self._path(reviewer)) as journal:
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
