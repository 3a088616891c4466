"""``privasis export``: chats and a data card, in a folder or on the hub."""

from pathlib import Path

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.datasets import open_records
from flows.config import ConfigError
from infra.hub import push as upload
from infra.hub import token
from infra.shards.location import Location, ObjectPath
from tasks.export.facts import Facts
from tasks.export.licences import common_licence
from tasks.report.formats import count, fixed, percent

FOLDER = "export"


def run(folder: Location, to: Path | None, push: str | None, public: bool) -> None:
    """Export the data set in ``folder``, and upload what came of it if ``push`` names a repository.

    Raises:
        ConfigError: no finished triplets there, all are left out, or ``to`` holds other files.
        HubRefused: there is no token, or the hub says no. Without a token nothing is written either.
    """
    from flows.export import export

    open_records(folder)
    if push is not None:
        token()
    home = folder.resolve()
    target = to or home / FOLDER
    if isinstance(target, ObjectPath):
        raise ConfigError(f"{folder}: say with --to in which folder of this machine the export shall be")
    try:
        exported = export(home.parent, home.name, target.resolve())
    except (ValueError, FileExistsError) as error:
        raise ConfigError(str(error)) from error
    console = Console()
    console.print(_table(exported.facts))
    for line in _said(exported.facts, exported.folder):
        console.print(Text(line), soft_wrap=True)
    if push is not None:
        message = f"{exported.facts.triplets:,} chats"
        console.print(Text(f"\nOn the hub: {upload(exported.folder, push, message=message, private=not public)}"))


def _table(facts: Facts) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("part")
    for heading in ("chats", "targets each", "in groups", "request, words", "text, words"):
        table.add_column(heading, justify="right")
    for split in facts.splits:
        table.add_row(
            split.split,
            count(split.records),
            fixed(split.targets),
            percent(split.grouped),
            fixed(split.instruction_words),
            fixed(split.words),
        )
    return table


def _said(facts: Facts, folder: Location) -> list[str]:
    licence = common_licence({**facts.writers, **facts.sanitizers})
    lines = [f"{folder}: load_dataset({str(folder)!r}); the card says what is in it"]
    if facts.unverified:
        lines.append(f"{facts.unverified:,} triplets left out: a value that had to go is still found in the clean text")
    if not facts.is_split:
        lines.append("All of it is in `train`: `privasis split` sets parts aside for validation and tests")
    if licence == "other":
        lines.append(
            "The card names no licence, for the models' terms have none in common: read them before you publish"
        )
    return lines
