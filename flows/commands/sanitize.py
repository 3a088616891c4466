"""``privasis sanitize``: plan over the finished record shards, run the flow, say what was made."""

import shlex
import sys
from collections import Counter
from typing import TYPE_CHECKING

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.budget import BudgetSpent
from flows.commands.checks import check_models
from flows.commands.errors import EXPECTED, Code, RunFailed
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.wording import counted
from flows.config import ConfigError, RunConfig
from infra.llm.types import Usage
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards import files
from infra.shards.location import Location
from infra.shards.plan import Plan, Reprocess
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.report.formats import usd
from tasks.report.marks import visible

if TYPE_CHECKING:
    from flows.sanitize import SanitizationReport

PAGE = "triplets.html"
SHOWN = 6


def run(flags: RunFlags, reprocess: Reprocess) -> None:
    """Sanitize the finished record shards of a data set that are not yet.

    Raises:
        ConfigError: the run is described wrongly, or its data set has no finished records.
        RunFailed: shards did not get done.
    """
    config = run_of(flags)
    quiet_prefect()
    from flows.sanitize import plan_sanitization, planned_sanitization

    store = planned_sanitization(config).store()
    store.sweep()  # what killed runs have left, also where nothing is left to make and the flow is not called
    planned = plan_sanitization(config, reprocess)
    if not planned.shards:
        raise ConfigError(
            f"{config.root / config.dataset}: no finished records to sanitize: `privasis synthesize` first"
        )
    if not planned.todo:
        if held := planned.counts()["held"]:
            raise RunFailed(f"another process is making {counted(held, 'shard')}: wait for it", Code.OUTSIDE)
        _print_nothing_to_do(config, planned)
        return
    check_models(config)
    report = _run(config, reprocess, planned)
    print_made(report, store)
    _print_next(config, write_page(store, config.dataset))


def _run(config: RunConfig, reprocess: Reprocess, planned: Plan) -> "SanitizationReport":
    from flows.commands.failures import Failures
    from flows.sanitize import sanitize
    from tasks.sanitization.steps import sanitize_shard

    failures = Failures()
    sanitize_shard.on_failure(failures.note)
    shards = len(planned.todo)
    _say(f"{counted(shards, 'record shard')} to sanitize; starting Prefect, Ray and the models")
    with prefect_api(settings().cache / "prefect") as ready:
        _say(f"watch it at {ready().removesuffix('/api')}")
        try:
            return sanitize(config, reprocess)
        except BudgetSpent:
            raise
        except EXPECTED as error:
            raise failures.told(shards) or error from error


def write_page(store: StageStore, name: str) -> Location:
    """Write a page of a few triplets into the folder of their data set and return where it is."""
    from flows.report import examples_of
    from tasks.sanitization.page import triplets_page

    page = store.layout.manifest.parents[1] / PAGE
    files.put(page, triplets_page(name, examples_of(store, "triplets", SHOWN, by="asked_length")).encode())
    return page


def _print_next(config: RunConfig, page: Location) -> None:
    console = Console()
    named = f"--root {shlex.quote(str(config.root))} --dataset {config.dataset}"
    for line in (
        f"A few of them, side by side: {page}",
        "\nNext:",
        f"  privasis split {named}    train, validation and tests, no person in two of them",
        f"  privasis export {shlex.quote(str(config.root / config.dataset))}    chats to train on, with a data card",
    ):
        _line(console, line)


def _print_nothing_to_do(config: RunConfig, planned: Plan) -> None:
    counts = planned.counts()
    finished = f"{counts['committed']:,} of {counted(len(planned.shards), 'record shard')}"
    console = Console()
    _line(console, f"Nothing to do: {finished} of {config.root / config.dataset} sanitized with these settings.")
    if counts["stale"]:
        _line(
            console,
            f"{counted(counts['stale'], 'shard')} made of other records, or with other settings or prompts:"
            " `--reprocess stale` makes them again.",
        )


def print_made(report: "SanitizationReport", store: StageStore) -> None:
    """Print what became of the records in the shards that ``report`` is about, and where it is."""
    verified, reasons = 0, Counter[str]()
    for receipt in report.receipts:
        summary = store.manifest.record(ShardRange.parse(receipt.shard)).summary
        verified += int(str(summary.notes["verified"]))
        reasons += Counter(summary.reasons)
    made = sum(receipt.records for receipt in report.receipts)
    rejected = sum(receipt.filtered + receipt.quarantined for receipt in report.receipts)
    tokens = sum((receipt.all_tokens for receipt in report.receipts), Usage())
    failed = sum(receipt.failed_tries for receipt in report.receipts)
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    for name, figure, detail in (
        ("triplets", f"{made:,}", f"{verified:,} without a value of a target in the clean text"),
        ("rejected", f"{rejected:,}", ", ".join(f"{count:,} {reason}" for reason, count in reasons.most_common())),
        (
            "calls",
            f"{sum(receipt.calls for receipt in report.receipts):,}",
            f"{failed:,} failed tries on top" if failed else "",
        ),
        ("tokens", f"{tokens.prompt + tokens.completion:,}", f"{tokens.cached:,} of them cached"),
        ("cost", usd(sum(receipt.bill_usd for receipt in report.receipts)), ""),
    ):
        table.add_row(Text(name), Text(figure), Text(visible(detail)))
    console = Console()
    console.print(table)
    there = f", {report.shards_before:,} were there" if report.shards_before else ""
    _line(console, f"\n{counted(len(report.receipts), 'shard')} in {store.layout.tables['triplets']}{there}")


def _line(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)  # a path that is cut in two cannot be copied


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
