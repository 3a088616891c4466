"""A batch, cleaned: what is finished is in a journal beside the target, and is not asked for again after a kill.

Why journals and not the shard store: the source is one file or folder of somebody's, in any number of rows, and the
target is to be the same with one column changed. The store wants a population cut into shards, and gives a data set
of shards with a manifest. What both need, never to pay for an answer twice, is the journal.

A journal holds accepted clean texts alone, for its owner to read: no original, and no answer that was refused. Failed
texts are in none, so that the same command asks for them again.
"""

import fcntl
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from infra.shards.journal import Journal
from infra.shards.lease import LeaseHeld
from tasks.cleaning.batches.document import Batch, Document, Outcome
from tasks.cleaning.batches.rejects import write_line
from tasks.cleaning.clean import Cleaner
from tasks.cleaning.diff import has_word
from tasks.cleaning.failure import CleaningFailed
from tasks.cleaning.report import report_of
from tasks.cleaning.values import Value
from tasks.concurrency import map_bounded
from tasks.events import EventLog


@dataclass(slots=True)
class Tally:
    """How a batch went.

    Attributes:
        clean: texts passed on, those with nothing to clean included.
        failed: the others, by reason.
        leaking: texts in which a named value still stands.
    """

    clean: int = 0
    failed: Counter[str] = field(default_factory=Counter)
    leaking: int = 0


async def clean_batch(
    batch: Batch,
    cleaner: Cleaner,
    instruction: str,
    values: tuple[Value, ...],
    *,
    journals: Path,
    in_flight: int,
    report: IO[str] | None,
    progress: Callable[[Tally], None],
) -> Tally:
    """Clean all texts of ``batch``, part after part, each part's texts ``in_flight`` at once.

    Args:
        batch: opened.
        cleaner: who cleans.
        instruction: the same for all texts.
        values: looked for in each clean text.
        journals: folder for what is finished, see ``journal_folder``.
        in_flight: texts in work at once.
        report: where a report of each clean text goes, a line of JSON each.
        progress: told of each part.

    Raises:
        BackendUnavailable: the model does not answer; what is finished stays in the journals.
        BatchUnusable: the source cannot be read.
        JournalCorrupt: a journal was damaged from outside.
    """
    tally = Tally()
    for number, documents in enumerate(batch.parts()):
        path = journals / f"part-{number:06d}.journal"
        path.touch(mode=0o600)
        with Journal(path) as journal:

            async def one(document: Document, log: EventLog = journal) -> Outcome:
                return await cleaned(document, cleaner, instruction, log)

            outcomes = await map_bounded(one, documents, in_flight)
        batch.write(outcomes)
        for each in outcomes:
            _count(tally, each, cleaner, values, report)
        progress(tally)
    batch.finish()
    return tally


async def cleaned(document: Document, cleaner: Cleaner, instruction: str, log: EventLog) -> Outcome:
    """Clean one text; that it cannot be cleaned is its outcome."""
    if document.unusable is not None:
        return Outcome(document, failure=document.unusable)
    if document.text is None or not has_word(document.text):
        return Outcome(document)
    try:
        return Outcome(document, await cleaner.clean(document.name, document.text, instruction, log))
    except CleaningFailed as failure:
        return Outcome(document, failure=failure)


def _count(tally: Tally, outcome: Outcome, cleaner: Cleaner, values: tuple[Value, ...], report: IO[str] | None) -> None:
    if outcome.failure is not None:
        tally.failed[outcome.failure.reason] += 1
        return
    tally.clean += 1
    if outcome.cleaned is not None and (values or report is not None):
        made = report_of(outcome.cleaned, values, cleaner.backend.model)
        tally.leaking += bool(made.leaking)
        if report is not None:
            write_line(report, {"document": outcome.document.name, "report": made.model_dump()})


@contextmanager
def journal_folder(target: Path) -> Iterator[Path]:
    """Make the folder of journals of ``target``, for one process at a time and its owner alone.

    It goes again where nothing came of it.

    Raises:
        LeaseHeld: another process works on the same target.
    """
    folder = journals_of(target)
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor = os.open(folder / "lock", os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise LeaseHeld(f"{target}: another process cleans into it: wait for it") from error
        if not os.fstat(descriptor).st_nlink:
            raise LeaseHeld(f"{target}: another process has just cleaned into it: look at what is there")
        try:
            yield folder
        finally:
            if folder.exists() and not any(folder.glob("*.journal")):
                shutil.rmtree(folder)
    finally:
        os.close(descriptor)


def journals_of(target: Path) -> Path:
    """Return where the journals of ``target`` are: beside it."""
    return target.with_name(f"{target.name}.journal")


def drop_journals(target: Path) -> None:
    """Delete the journals of a target that is finished."""
    shutil.rmtree(journals_of(target))
