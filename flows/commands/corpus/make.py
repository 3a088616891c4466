"""``privasis corpus``: makes a corpus and says what is in it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError
from rich.console import Console
from rich.table import Table

from flows.commands.errors import Code, RunFailed
from flows.config import ConfigError
from flows.corpus import CorpusManifest, make_code_pii, make_code_quirks
from flows.corpus_checks import ProgramFailed
from infra.sandbox.run import SandboxUnavailable
from infra.shards.folder_lock import FolderTaken
from infra.shards.location import Location
from tasks.corpora.bundles.pool import TooFewTasks
from tasks.corpora.code_pii.config import CodePiiConfig
from tasks.corpora.code_quirks.config import CodeQuirksConfig
from tasks.corpora.rows import CorpusNotReadable

_TOLD_EVERY = 50  # programs

ConfigT = TypeVar("ConfigT", bound=BaseModel)


def code_pii(output: Location, folder: Path | None, workers: int, /, **size: int | None) -> None:
    """Make a Code PII corpus.

    Raises:
        ConfigError: the size is wrong, or a task is.
        RunFailed: programs cannot be run here.
    """
    with _told():
        _print(output, make_code_pii(_config(CodePiiConfig, size), output, folder, workers, _tell))


def code_quirks(output: Location, folder: Path | None, workers: int, /, **size: int | None) -> None:
    """Make a Code Quirks corpus; errors as of ``code_pii``."""
    with _told():
        _print(output, make_code_quirks(_config(CodeQuirksConfig, size), output, folder, workers, _tell))


def _config(kind: type[ConfigT], size: dict[str, int | None]) -> ConfigT:
    try:
        return kind.model_validate(size)
    except ValidationError as error:
        faults = [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors(include_url=False)]
        raise ConfigError("; ".join(faults)) from error


@contextmanager
def _told() -> Iterator[None]:
    try:
        yield
    except (CorpusNotReadable, FolderTaken, ProgramFailed, TooFewTasks) as error:
        raise ConfigError(str(error)) from error
    except SandboxUnavailable as error:
        raise RunFailed(str(error), Code.OUTSIDE) from error


def _tell(ran: int) -> None:
    if ran % _TOLD_EVERY == 0:
        sys.stderr.write(f"{ran:,} programs have passed\n")


def _print(output: Location, manifest: CorpusManifest) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    for name, record in manifest.files.items():
        kinds = ", ".join(f"{count:,} {kind}" for kind, count in manifest.counts.get(name, {}).items())
        spans = f"; {manifest.spans[name]:,} spans" if manifest.spans.get(name) else ""
        table.add_row(name, f"{record.rows:,}", f"{kinds}{spans}")
    console = Console()
    console.print(table)
    console.print(f"\nAll programs pass their tests. Written: {output}", soft_wrap=True)
