"""``privasis batches``: what has become of the batches that a run has sent to a provider, and how to stop them."""

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.whole import print_whole
from flows.config import Remote
from infra.llm.batch_files import RemoteBatch
from infra.llm.connect import Endpoint
from infra.shards import files
from infra.shards.ranges import ShardRange
from tasks.report.formats import count
from tasks.report.marks import visible


@dataclass(frozen=True, slots=True)
class Sent:
    """A batch of one shard."""

    shard: ShardRange
    model: str
    batch: RemoteBatch


def run(flags: RunFlags, *, cancel: bool) -> None:
    """Show the batches of the shards that are not finished.

    Raises:
        ConfigError: the run is described wrongly.
        BackendUnavailable: a provider does not answer, or does not take the key.
    """
    quiet_prefect()
    found = list(sent(flags, cancel=cancel))
    console = Console()
    if not found:
        console.print("No shard waits for a batch.")
        return
    print_whole(console, _table(found))
    if cancel:
        console.print("What they have answered is kept: the same `synthesize` uses it and sends the rest again.")


def sent(flags: RunFlags, *, cancel: bool) -> Iterator[Sent]:
    """Yield the batches of every unfinished shard, those that are not over cancelled where that is asked."""
    from flows.engines import planned_job
    from infra.llm.openai_batch import batches_of

    config = run_of(flags)
    layout = planned_job(config).store().layout
    for entry in config.models:
        if entry.batch is None or not isinstance(entry.engine, Remote):  # a simulator of the run's ends with it
            continue
        endpoint = Endpoint(**entry.engine.model_dump(exclude={"kind"}))
        for shard, _ in layout.open_journals():
            ledger = layout.batch_ledger(shard, endpoint.model)
            for batch in asyncio.run(batches_of(endpoint, ledger, cancel=cancel)) if files.exists(ledger) else ():
                yield Sent(shard, endpoint.model, batch)


def _table(found: list[Sent]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("shard", "model", "batch", "state"):
        table.add_column(heading)
    for heading in ("requests", "answered"):
        table.add_column(heading, justify="right")
    for each in found:
        batch = each.batch
        cells = (each.shard.name, visible(each.model), visible(batch.id), visible(batch.status))
        table.add_row(*map(Text, cells), count(batch.total), count(batch.answered))
    return table
