"""Makes the corpora that masked training is tried on: draw, run what must run, write tables and a manifest."""

import json
import platform
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from flows.config import ConfigError
from flows.corpus_checks import Check, Passed, run_checks
from infra.shards import files, parquet
from infra.shards.folder_lock import folder_locked
from infra.shards.location import Location
from infra.shards.manifest import FileRecord
from tasks.corpora.bundles.examples import CHATS, DOCUMENTS, TASKS, TASKS_FILE, Example, gold, task_row
from tasks.corpora.bundles.folder import read_tasks
from tasks.corpora.bundles.pool import Pool, own_tasks, pool_of
from tasks.corpora.bundles.task import CodeTask
from tasks.corpora.code_pii import corpus as pii
from tasks.corpora.code_pii.bundle import BUNDLES, Bundle
from tasks.corpora.code_pii.config import CodePiiConfig
from tasks.corpora.code_pii.examples import chats, documents
from tasks.corpora.code_pii.identities import PrivateSplit
from tasks.corpora.code_pii.values import VALUES, VALUES_FILE, occurrences, value_rows
from tasks.corpora.code_quirks import corpus as quirks
from tasks.corpora.code_quirks.config import CodeQuirksConfig

MANIFEST, PASSED, BUNDLES_FILE = "manifest.json", "passed.txt", "bundles.parquet"
SPLITS: tuple[PrivateSplit, ...] = ("train", "calibration")

Tell = Callable[[int], None]


class CorpusManifest(BaseModel):
    """What a corpus is, and which files it has."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    corpus: str
    config: Mapping[str, Any]
    tasks: Mapping[str, int] = Field(description="tasks of each split of the pool")
    counts: Mapping[str, Mapping[str, int]] = Field(description="rows of each file by kind")
    spans: Mapping[str, int] = Field(description="labelled spans of each file")
    versions: Mapping[str, str]
    files: Mapping[str, FileRecord]


class _Tables:
    """Writes the tables of a corpus, each whole, and keeps what its manifest says of them."""

    def __init__(self, folder: Location) -> None:
        files.delete(folder / MANIFEST)  # of other tables than those that come now; the new one is written last
        self._folder = folder
        self._files: dict[str, FileRecord] = {}
        self._counts: dict[str, dict[str, int]] = {}
        self._spans: dict[str, int] = {}

    def write(self, name: str, rows: list[dict[str, Any]], schema: pa.Schema) -> None:
        data = parquet.encode(pa.Table.from_pylist(rows, schema))
        files.put(self._folder / name, data)
        self._files[name] = FileRecord(rows=len(rows), bytes=len(data), sha256=files.sha256(data))

    def examples(self, form: str, split: str, examples: Iterable[Example]) -> None:
        name = f"{form}/{split}.parquet"
        rows = [example.row() for example in examples]
        self.write(name, rows, CHATS if form == "chats" else DOCUMENTS)
        self._counts[name] = dict(Counter(row["kind"] for row in rows))
        self._spans[name] = sum(len(row["spans"]) for row in rows)

    def development(self, tasks: list[CodeTask]) -> None:
        asked = [(task, gold(task, wording, chat=True)) for task in tasks for wording in ("prompt", "rephrased")]
        self.examples("chats", "development", (example for _, example in asked))
        self.examples("documents", "development", (gold(task, "prompt", chat=False) for task in tasks))
        self.write(TASKS_FILE, [task_row(task, example) for task, example in asked], TASKS)

    def finish(self, corpus: str, config: BaseModel, pool: Pool) -> CorpusManifest:
        manifest = CorpusManifest(
            corpus=corpus,
            config=config.model_dump(mode="json"),
            tasks={split: len(getattr(pool, split)) for split in ("train", "calibration", "development")},
            counts=self._counts,
            spans=self._spans,
            versions={"privasis-factory": version("privasis-factory"), "python": platform.python_version()},
            files=self._files,
        )
        files.put(self._folder / MANIFEST, manifest.model_dump_json(indent=1).encode() + b"\n")
        return manifest


def make_code_pii(
    config: CodePiiConfig, folder: Location, tasks: Path | None = None, workers: int = 1, tell: Tell = lambda ran: None
) -> CorpusManifest:
    """Make a Code PII corpus in ``folder``; what has passed there before does not run again.

    Where the folder is in an object store, this machine keeps what has passed: another one runs it again.

    Raises:
        ConfigError: the folder holds something else.
        FolderTaken: another process of this machine is making a corpus in it.
        StorageRefused, StorageUnavailable: the object store does not let us write, or does not answer.
        CorpusNotReadable: a task of the folder ``tasks`` cannot be read.
        TooFewTasks: there are fewer tasks than the configuration asks for.
        ProgramFailed: tests of a bundle or a task do not pass.
        SandboxUnavailable: this system cannot confine programs.
    """
    with _opened(folder, "code-pii") as passed:
        pool = _pool(tasks, config.seed)
        made = {split: list(pii.bundles(config, pool, split)) for split in SPLITS}
        development = pii.development(config, pool)
        all_bundles = [bundle for split in SPLITS for bundle in made[split]]
        run_checks(_checks_of_bundles(all_bundles, development), passed, workers, tell)
        tables = _Tables(folder)
        values: list[dict[str, Any]] = []
        for split in SPLITS:
            asked = [example for bundle in made[split] for example in chats(bundle)]
            texts = [example for bundle in made[split] for example in documents(bundle)]
            tables.examples("chats", split, asked)
            tables.examples("documents", split, texts)
            values += value_rows(pii.private_values(config, split), split, occurrences(asked), occurrences(texts))
        tables.development(development)
        tables.write(VALUES_FILE, values, VALUES)
        tables.write(BUNDLES_FILE, [row for bundle in all_bundles for row in bundle.rows()], BUNDLES)
        return tables.finish("code-pii", config, pool)


def make_code_quirks(
    config: CodeQuirksConfig,
    folder: Location,
    tasks: Path | None = None,
    workers: int = 1,
    tell: Tell = lambda ran: None,
) -> CorpusManifest:
    """Make a Code Quirks corpus in ``folder``; errors as of ``make_code_pii``."""
    with _opened(folder, "code-quirks") as passed:
        pool = _pool(tasks, config.seed)
        made = {split: list(quirks.programs(config, pool, split)) for split in SPLITS}
        development = quirks.development(config, pool)
        display = quirks.display(config, development)
        run_checks(
            _checks_of_programs([each for split in SPLITS for each in made[split]], development), passed, workers, tell
        )
        tables = _Tables(folder)
        for split in SPLITS:
            tables.examples("chats", split, (program.chat() for program in made[split]))
            tables.examples("documents", split, (program.document() for program in made[split]))
        tables.development(development)
        shown = [
            {"quirk": quirk, "id": gold(task, "prompt", chat=True).id}
            for quirk, chosen in display.items()
            for task in chosen
        ]
        tables.write(quirks.DISPLAY_FILE, shown, quirks.DISPLAY)
        return tables.finish("code-quirks", config, pool)


@contextmanager
def _opened(folder: Location, corpus: str) -> Iterator[Passed]:
    """Make the folder, and keep other processes out of it; refuse one that holds another corpus."""
    here = files.here(folder)
    with folder_locked(here):
        files.make_folder(folder)  # a bucket that cannot be written to says so before programs run
        data = files.read(folder / MANIFEST)
        if data is not None and (there := json.loads(data).get("corpus")) != corpus:
            raise ConfigError(f"{folder}: holds a corpus {there!r}: give another folder for {corpus!r}")
        yield Passed(here / PASSED)


def _pool(tasks: Path | None, seed: int) -> Pool:
    return pool_of(own_tasks() if tasks is None else read_tasks(tasks), seed)


def _checks_of_bundles(bundles: list[Bundle], development: list[CodeTask]) -> Iterator[Check]:
    """Check first the tasks by themselves, so that a wrong one is named, then the bundles."""
    yield from _checks_of_tasks([*(bundle.task for bundle in bundles), *development])
    for bundle in bundles:
        yield Check(bundle.id, bundle.program())


def _checks_of_programs(programs: list[quirks.QuirkProgram], development: list[CodeTask]) -> Iterator[Check]:
    """Check first the tasks as they are, then every program with its habit."""
    yield from _checks_of_tasks([*(program.task for program in programs), *development])
    for program in programs:
        yield Check(f"{program.id} ({program.quirk}, task {program.task.id})", program.program())


def _checks_of_tasks(tasks: Iterable[CodeTask]) -> Iterator[Check]:
    for task in {task.id: task for task in tasks}.values():
        yield Check(f"task {task.id}", task.check())
