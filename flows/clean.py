"""Texts, cleaned by one request with one model. A plain program: it starts in a second, needs no Prefect and no Ray.

A person waits for one text, and a batch has its own journal to go on from; what schedules and places shards on many
machines would only stand between the two.
"""

import asyncio
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from flows.cleaning_model import ModelAsked, Ready, ready
from infra.shards import files
from tasks.cleaning.batches.document import Batch, Document, Outcome
from tasks.cleaning.batches.folder import FolderBatch
from tasks.cleaning.batches.jsonl import SUFFIX as JSONL
from tasks.cleaning.batches.jsonl import JsonlBatch
from tasks.cleaning.batches.parquet import SUFFIX as PARQUET
from tasks.cleaning.batches.parquet import ParquetBatch
from tasks.cleaning.clean import Cleaned, Cleaner, Part
from tasks.cleaning.config import CleaningConfig
from tasks.cleaning.private_file import map_with, private_file
from tasks.cleaning.pseudonyms import Pseudonym, restore
from tasks.cleaning.report import CleaningReport, report_of
from tasks.cleaning.steps import Tally, clean_batch, drop_journals, journal_folder
from tasks.cleaning.values import Value
from tasks.events import MemoryLog


@dataclass(frozen=True, slots=True)
class CleaningJob:
    """What to do with texts.

    Attributes:
        instruction: in the caller's words.
        values: that the caller names: for reports, and for pseudonyms.
        in_parts: whether a text that is too long may be cut.
        pseudonyms: file of the map; none leaves all to the model.
    """

    model: ModelAsked
    instruction: str
    values: tuple[Value, ...] = ()
    in_parts: bool = True
    pseudonyms: Path | None = None

    def known(self) -> tuple[Pseudonym, ...]:
        """Return the pseudonyms to use, those of new values made and kept first.

        Raises:
            MapUnusable: the file is no map.
        """
        return () if self.pseudonyms is None else map_with(self.pseudonyms, self.values).pseudonyms

    def config(self, model: Ready) -> CleaningConfig:
        """Return the settings for a model that is ready."""
        return CleaningConfig(context_tokens=model.context_tokens, in_parts=self.in_parts)


def clean_one(text: str, job: CleaningJob) -> tuple[Cleaned, CleaningReport]:
    """Clean a text.

    Raises:
        CleaningFailed: it was not cleaned: nothing of it is to be passed on.
        BackendUnavailable: the model does not answer.
    """
    pseudonyms = job.known()  # first: a map that cannot be read or written is found out at once

    async def clean(model: Ready) -> tuple[Cleaned, CleaningReport]:
        async with model.backend() as backend:
            cleaner = Cleaner(backend, job.config(model), pseudonyms)
            cleaned = await cleaner.clean("text", text, job.instruction, MemoryLog())
            return cleaned, report_of(cleaned, job.values, backend.model)

    with ready(job.model) as model:
        return asyncio.run(clean(model))


def clean_many(
    source: Path, target: Path, column: str, job: CleaningJob, report: Path | None, progress: Callable[[Tally], None]
) -> Tally:
    """Clean the batch that ``source`` is; what an earlier, killed call has finished is not asked for again.

    Raises:
        BatchUnusable: see ``batch_of``.
        BackendUnavailable: the model does not answer; the same call goes on later.
        LeaseHeld: another process cleans into ``target``.
    """

    async def clean(batch: Batch, model: Ready, journals: Path, lines: IO[str] | None) -> Tally:
        async with model.backend() as backend:
            return await clean_batch(
                batch,
                Cleaner(backend, job.config(model), known),
                job.instruction,
                job.values,
                journals=journals,
                in_flight=model.in_flight,
                report=lines,
                progress=progress,
            )

    # The folder first: what is being written is no other process's to open, and none to delete.
    with journal_folder(target) as journals, batch_of(source, target, column) as batch:
        known = job.known()
        with ready(job.model) as model, _lines(report) as lines:
            tally = asyncio.run(clean(batch, model, journals, lines))
        if not tally.failed:  # else the same call asks for those again, and for nothing else
            drop_journals(target)
    return tally


@contextmanager
def _lines(report: Path | None) -> Iterator[IO[str] | None]:
    if report is None:
        yield None
        return
    with private_file(report) as file:
        yield file


def restore_many(batch: Batch, pseudonyms: tuple[Pseudonym, ...]) -> None:
    """Put the values back into a batch; no model is asked."""
    for documents in batch.parts():
        batch.write([_restored(document, pseudonyms) for document in documents])
    batch.finish()


def _restored(document: Document, pseudonyms: tuple[Pseudonym, ...]) -> Outcome:
    if document.text is None:
        return Outcome(document, failure=document.unusable)
    return Outcome(document, Cleaned((Part(0, document.text, restore(document.text, pseudonyms)),)))


def batch_of(source: Path, target: Path, column: str) -> Batch:
    """Open the batch that ``source`` is: a folder, Parquet or JSON Lines.

    Raises:
        BatchUnusable: it is not what its name says, or has no such column.
    """
    if source.is_dir():
        return FolderBatch(source, target)
    files.make_directory(target.absolute().parent)
    return ParquetBatch(source, target, column) if source.suffix == PARQUET else JsonlBatch(source, target, column)


def is_batch(source: str) -> bool:
    """Whether there are several texts in ``source``."""
    path = Path(source)
    return path.is_dir() or path.suffix in (PARQUET, JSONL)
