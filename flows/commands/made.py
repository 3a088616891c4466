"""What a synthesis run has made, for a person at a terminal."""

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.wording import counted
from flows.config import RunConfig
from infra.llm.types import Usage
from infra.shards.plan import Plan
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.report.formats import count, usd
from tasks.report.marks import visible

if TYPE_CHECKING:
    from flows.synthesize import SynthesisReport


def print_made(run: RunConfig, report: "SynthesisReport", store: StageStore, before: Plan) -> None:
    """Print what became of the shards that ``report`` is about, where they are, and what to do next."""
    console = Console()
    reasons: dict[str, Counter[str]] = {"filtered": Counter(), "quarantined": Counter()}
    for receipt in report.receipts:
        for reject in store.read_shard("rejects", ShardRange.parse(receipt.shard), ["outcome", "reason"]).to_pylist():
            reasons[reject["outcome"]][reject["reason"]] += 1
    makers = _makers(run, report, store)
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    for name, figure, detail in _rows(report, reasons, makers):
        table.add_row(Text(name), Text(figure), Text(visible(detail)))
    console.print(table)
    there = f", {report.shards_before:,} were there" if report.shards_before else ""
    _line(console, f"\n{counted(len(report.receipts), 'shard')} in {store.layout.tables['records']}{there}")
    idle = [name for name, rows in makers.items() if not rows]
    if idle and any(makers.values()):
        folder = shlex.quote(str(run.root / run.dataset))
        _line(
            console,
            f"No record was made by {visible(', '.join(idle))}: `privasis status {folder}` lists tries that failed.",
        )
    _print_rest(console, run, before)


def print_nothing_to_do(run: RunConfig, planned: Plan) -> None:
    """Say that all is there."""
    console = Console()
    finished = f"{planned.counts()['committed']:,} of {counted(len(planned.shards), 'shard')}"
    _line(console, f"Nothing to do: {finished} of {run.root / run.dataset} finished with these settings.")
    _print_rest(console, run, planned)


def _print_rest(console: Console, run: RunConfig, planned: Plan) -> None:
    done = set(planned.todo)
    stale = sum(each.state == "stale" and each.shard not in done for each in planned.shards)
    if stale:
        _line(
            console,
            f"{counted(stale, 'shard')} finished with other settings or prompts: `privasis shards status` says which,"
            " `--reprocess stale` makes them again.",
        )
    if held := planned.counts()["held"]:
        _line(console, f"Another process is making {counted(held, 'shard')}.")
    folder = shlex.quote(str(run.root / run.dataset))
    _line(console, "\nNext:")
    _line(console, f"  privasis report {folder}          figures, one record with its attributes marked, an HTML page")
    _line(console, f"  privasis shards verify {folder}   every file read again and compared with the manifest")


def _makers(run: RunConfig, report: "SynthesisReport", store: StageStore) -> Counter[str]:
    """Count the records by the model of the mix that made them; a model may have lost its share to the others."""
    makers = Counter({each.name: 0 for each in run.models})
    for receipt in report.receipts:
        makers.update(store.read_shard("records", ShardRange.parse(receipt.shard), ["model"])["model"].to_pylist())
    return makers


def _line(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)  # a path that is cut in two cannot be copied


def _rows(
    report: "SynthesisReport", reasons: Mapping[str, Counter[str]], makers: Counter[str]
) -> Iterator[tuple[str, str, str]]:
    receipts = report.receipts
    replayed = sum(receipt.replayed for receipt in receipts)
    tokens = sum((receipt.all_tokens for receipt in receipts), Usage())
    failed = sum(receipt.failed_tries for receipt in receipts)
    by_model = visible(_listed(makers)) if len(makers) > 1 else ""
    yield "records", count(sum(receipt.records for receipt in receipts)), by_model
    yield "filtered", count(sum(receipt.filtered for receipt in receipts)), _listed(reasons["filtered"])
    yield "quarantined", count(sum(receipt.quarantined for receipt in receipts)), _listed(reasons["quarantined"])
    yield "calls", count(sum(receipt.calls for receipt in receipts)), _replayed(replayed)
    if failed:
        yield "failed tries", count(failed), "on top of these calls; each was followed by another, or by a row's end"
    yield "tokens read", count(tokens.prompt), f"{tokens.cached:,} from the server's cache" if tokens.cached else ""
    yield "tokens written", count(tokens.completion), ""
    yield "cost", usd(sum(receipt.bill_usd for receipt in receipts)), ""


def _listed(reasons: Counter[str]) -> str:
    return ", ".join(f"{reason} {rows:,}" for reason, rows in reasons.most_common())


def _replayed(events: int) -> str:
    return f"{events:,} events of an earlier try were not paid for again" if events else ""
