"""``privasis shards matrix`` and ``privasis shards repair``."""

from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path

from rich.console import Console
from rich.text import Text

from flows.commands.errors import Code
from flows.commands.stages import stages_of
from flows.commands.wording import counted
from infra.shards import files
from infra.shards.location import Location
from infra.shards.repair import FOLDER, Outcome, find_repairs, mend
from tasks.report.marks import visible

_OUTCOMES: Mapping[Outcome, tuple[str, str]] = {
    "done": ("done", "green"),
    "held": ("left alone: somebody works on this shard", "magenta"),
    "changed": ("left alone: it has changed since; look again", "yellow"),
    "by hand": ("for you to decide", "yellow"),
}


def matrix(folder: Location, html: Path | None) -> None:
    """Show where every shard of every stage stands, and write a page of it where that is asked for.

    Raises:
        ConfigError: no data set there.
    """
    from flows.matrix.look import matrix_of
    from flows.matrix.page import matrix_page
    from flows.matrix.terminal import matrix_view

    found = matrix_of(folder)
    console = Console()
    console.print(matrix_view(found), soft_wrap=True)
    if html is not None:
        files.put(html, matrix_page(found).encode())
        console.print(Text(f"The page: {html}"), soft_wrap=True)


def repair(folder: Location, *, really: bool) -> Code:
    """Say what is wrong with the files of a data set and what would be done about it; do it where ``really``.

    Returns:
        ``DAMAGE`` where something is left that is wrong.

    Raises:
        ConfigError: no data set there.
    """
    console = Console()
    moment = datetime.now(UTC)
    found, outcomes = 0, Counter[Outcome]()
    for store in stages_of(folder):
        repairs = find_repairs(store)
        found += len(repairs)
        for each in repairs:
            line = Text.assemble((each.kind, "bold"), f"  {each.path}\n    {visible(each.why)}\n    ")
            console.print(line.append(f"-> {each.deed}", style="cyan"), soft_wrap=True)
        if really:
            for each, outcome in mend(store, repairs, moment):
                told, style = _OUTCOMES[outcome]
                console.print(Text.assemble(f"{each.path}: {each.deed}: ", (told, style)), soft_wrap=True)
                outcomes[outcome] += 1
    if not found:
        console.print(Text(f"{folder}: nothing to repair"), soft_wrap=True)
        return Code.DONE
    if not really:
        console.print(Text(f"{counted(found, 'thing')} found, nothing done: --yes does it."), soft_wrap=True)
        return Code.DAMAGE
    place = folder / FOLDER / moment.strftime("%Y%m%dT%H%M%S")
    console.print(Text(f"{outcomes['done']:,} of {found:,} done; what was set aside is in {place}"), soft_wrap=True)
    return Code.DONE if outcomes["done"] == found else Code.DAMAGE
