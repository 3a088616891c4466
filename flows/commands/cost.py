"""``privasis cost``: what data sets have cost, by data set, stage, model and step."""

import json
import shlex
import sys
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Literal, get_args

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.quiet import quiet_prefect
from flows.commands.stages import stages_of
from flows.commands.whole import print_whole
from flows.commands.wording import counted
from flows.config import ConfigError
from infra.shards.location import Location
from infra.shards.manifest import ShardRecord
from tasks.report.formats import count, usd
from tasks.report.marks import visible
from tasks.shards.money import FAILED_TRIES, Lines, Spending

By = Literal["dataset", "stage", "model", "step"]
UNKNOWN = "(not recorded)"


@dataclass(slots=True)
class Line:
    """Calls, tokens and cost of one group.

    Attributes:
        calls: answered, and used by a chain; failed tries are not among them.
        failed_tries: each was followed by another, or by the end of its row.
        unpriced: tokens of which nobody has said what they cost.
    """

    group: tuple[str, ...]
    calls: int = 0
    failed_tries: int = 0
    prompt: int = 0
    cached: int = 0
    completion: int = 0
    reasoning: int = 0
    unpriced: int = 0
    cost_usd: float = 0.0

    def add(self, spending: Spending) -> None:
        """Count one line of a manifest."""
        if spending.step == FAILED_TRIES:
            self.failed_tries += spending.calls
        else:
            self.calls += spending.calls
        self.prompt += spending.prompt
        self.cached += spending.cached
        self.completion += spending.completion
        self.reasoning += spending.reasoning
        if spending.cost_usd is None:
            self.unpriced += spending.prompt + spending.completion
        else:
            self.cost_usd += spending.cost_usd


def run(folders: list[Location], by: list[By], as_json: bool) -> None:
    """Show what the finished shards of all stages of ``folders``, evaluations among them, have cost.

    Raises:
        ConfigError: a folder is no data set.
        ManifestCorrupt: an entry cannot be read.
    """
    quiet_prefect()
    lines = lines_of(folders, by)
    if as_json:
        sys.stdout.write(f"{json.dumps([_plain(line, by) for line in lines], indent=2, ensure_ascii=False)}\n")
        return
    console = Console()
    print_whole(console, table_of(lines, by))
    if unpriced := sum(line.unpriced for line in lines):
        console.print(Text(f"Not in it: {unpriced:,} tokens of which nobody has said what they cost."), soft_wrap=True)
    for folder in folders:
        if begun := unfinished(folder):
            console.print(
                Text(
                    f"Not in it: {counted(begun, 'unfinished shard')} of {folder}:"
                    f" `privasis status {shlex.quote(str(folder))}` says what the last run has cost in all."
                ),
                soft_wrap=True,
            )


def properties(listed: str) -> list[By]:
    """Read what to sum up by.

    Raises:
        ConfigError: there is no such property, or none is named.
    """
    found: list[By] = [each for name in listed.split(",") for each in get_args(By) if each == name.strip()]
    if len(found) != len(listed.split(",")):
        raise ConfigError(f"--by {listed}: give some of {','.join(get_args(By))}, with commas between")
    return found


def lines_of(folders: list[Location], by: list[By]) -> list[Line]:
    """Sum up by the asked properties, in their order; the dearest first."""
    lines: dict[tuple[str, ...], Line] = {}
    for folder in folders:
        for stage, spending in _spending(folder):
            names = {"dataset": folder.resolve().name, "stage": stage, "model": spending.model, "step": spending.step}
            group = tuple(names[each] for each in by)
            lines.setdefault(group, Line(group)).add(spending)
    return sorted(lines.values(), key=lambda line: (-line.cost_usd, line.group))


def unfinished(folder: Location) -> int:
    """Count the shards that have a journal and are not committed: what they cost is in no manifest yet."""
    return sum(
        shard not in store.manifest.shards() for store in stages_of(folder) for shard, _ in store.layout.open_journals()
    )


def table_of(lines: list[Line], by: list[By]) -> Table:
    """Lay them out, with their sums."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=True)
    for place, name in enumerate(by):
        table.add_column(name, footer="" if place else "all", overflow="fold")
    for heading, total in (
        ("calls", count(sum(line.calls for line in lines))),
        ("failed\ntries", count(sum(line.failed_tries for line in lines))),
        ("tokens\nread", count(sum(line.prompt for line in lines))),
        ("of a\ncache", count(sum(line.cached for line in lines))),
        ("written", count(sum(line.completion for line in lines))),
        ("cost", usd(sum(line.cost_usd for line in lines))),
    ):
        table.add_column(heading, justify="right", footer=total, no_wrap=True)  # half a figure is none
    for line in lines:
        figures = map(count, (line.calls, line.failed_tries, line.prompt, line.cached, line.completion))
        table.add_row(*[Text(visible(value)) for value in line.group], *figures, usd(line.cost_usd))
    return table


def _spending(folder: Location) -> Iterator[tuple[str, Spending]]:
    for store in stages_of(folder):
        for record in store.manifest.records().values():
            for spending in _lines(record):
                yield record.stage, spending


def _lines(record: ShardRecord) -> list[Spending]:
    """Return what a shard has cost; of older ones only the sum is known."""
    if "spending" in record.summary.notes:
        return Lines.validate_python(record.summary.notes["spending"])
    summary = record.summary
    return [
        Spending(model=UNKNOWN, step=UNKNOWN, calls=summary.calls, **asdict(summary.tokens), cost_usd=summary.cost_usd)
    ]


def _plain(line: Line, by: list[By]) -> dict[str, object]:
    figures = asdict(line)
    return dict(zip(by, figures.pop("group"), strict=True)) | figures
