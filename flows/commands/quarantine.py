"""``privasis quarantine``: rejected rows of a data set, counted by reason, listed without their texts, asked again."""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.budget import BudgetSpent
from flows.commands.checks import check_models, check_settings
from flows.commands.errors import EXPECTED
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.stages import stages_of
from flows.commands.whole import print_whole
from flows.commands.wording import counted
from flows.config import ConfigError, RunConfig
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards.location import Location
from infra.shards.store import StageStore
from tasks.report.formats import count, usd
from tasks.report.marks import visible
from tasks.shards.retrying.choice import Outcome, Wanted, could_differ

if TYPE_CHECKING:
    from flows.retry import RetryReport, RetryStage

_FIGURES = ["record_id", "outcome", "step", "reason", "calls", "cost_usd"]
_TEXTS = ["detail", "last_reply"]  # they quote what a model wrote, and so a record


@dataclass(frozen=True, slots=True)
class Rejected:
    """A rejected row of a shard of a stage."""

    stage: str
    shard: str
    row: dict[str, Any]


def wanted(
    reasons: Sequence[str] = (), steps: Sequence[str] = (), ids: Sequence[str] = (), *, filtered: bool
) -> Wanted:
    """Return which rows a command line means."""
    outcomes: tuple[Outcome, ...] = ("quarantined", "filtered") if filtered else ("quarantined",)
    return Wanted(outcomes=outcomes, reasons=tuple(reasons), steps=tuple(steps), ids=tuple(ids))


def rejected(folder: Location, stage: str | None, wanted: Wanted, *, texts: bool = False) -> Iterator[Rejected]:
    """Yield the rejected rows that are meant, shard by shard.

    Args:
        folder: of the data set.
        stage: only of this one.
        wanted: which rows.
        texts: read details and last replies, too.

    Raises:
        ConfigError: no data set there, or no such stage with rejects.
        TableDamaged: a file is not what was committed.
    """
    stores = [store for store in stages_of(folder) if _rejects_of(store) and stage in (None, store.stage)]
    if not stores:
        raise ConfigError(f"{folder}: no stage {stage or ''} with rejected rows: records and triplets have them")
    for store in stores:
        columns = [*_FIGURES, *(_TEXTS if texts else [])]
        for shard, record in store.manifest.records().items():
            table = _rejects_of(store)
            if table not in record.files or not record.files[table].rows:  # another release's shard may have none
                continue
            for row in store.read_shard(table, shard, columns).to_pylist():
                if wanted.takes(row):
                    yield Rejected(store.stage, shard.name, row)


def show_counts(folder: Location, stage: str | None, wanted: Wanted) -> None:
    """Print how many rows were rejected at which step for which reason, and how many could end otherwise."""
    rows: Counter[tuple[str, str, str, str]] = Counter()
    again: Counter[tuple[str, str, str, str]] = Counter()
    cost: Counter[tuple[str, str, str, str]] = Counter()
    for each in rejected(folder, stage, wanted):
        row = each.row
        key = (each.stage, row["outcome"], row["step"].partition("-")[0], row["reason"])
        rows[key] += 1
        again[key] += could_differ(row)
        cost[key] += row["cost_usd"]
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=True)
    for place, heading in enumerate(("stage", "outcome", "step", "reason")):
        table.add_column(heading, footer="" if place else "all")
    table.add_column("rows", justify="right", footer=count(rows.total()))
    table.add_column("can be retried", justify="right", footer=count(again.total()))
    table.add_column("paid", justify="right", footer=usd(sum(cost.values())))
    for key, number in rows.most_common():
        table.add_row(*(Text(visible(part)) for part in key), count(number), count(again[key]), usd(cost[key]))
    print_whole(Console(), table)


def show_list(folder: Location, stage: str | None, wanted: Wanted, most: int, *, texts: bool) -> None:
    """Print rejected rows, a line each; what models wrote only where that was asked for."""
    console = Console()
    shown = left = 0
    for each in rejected(folder, stage, wanted, texts=texts):
        if shown == most:
            left += 1
            continue
        shown += 1
        row = each.row
        line = Text.assemble((row["record_id"], "bold"), f"  {each.stage}  {each.shard}  {row['outcome']}  ")
        line.append(visible(f"{row['step']}: {row['reason']}"), style="yellow").append(
            f"  {counted(row['calls'], 'call')}"
        )
        console.print(line, soft_wrap=True)
        if texts:
            console.print(Text(f"    {visible(row['detail'])}"), soft_wrap=True)
            if row["last_reply"]:
                console.print(Text(f"    {visible(row['last_reply'])}", style="dim"), soft_wrap=True)
    if left:
        console.print(Text(f"and {left:,} more: --most N shows more, --reason and --step fewer"), soft_wrap=True)
    if not shown:
        filtered = "" if "filtered" in wanted.outcomes else " in quarantine; --filtered takes along filtered ones"
        told = f"No such row{filtered}. `privasis quarantine count {folder}` shows steps and reasons."
        console.print(Text(visible(told)), soft_wrap=True)


def retry(flags: RunFlags, stage: "RetryStage", wanted: Wanted, most: int | None, *, dry: bool) -> None:
    """Ask rejected rows again, them alone, and say how many pass.

    Raises:
        ConfigError: the run is described wrongly.
        RunFailed: shards did not get done.
    """
    config = run_of(flags)
    check_settings(config)
    quiet_prefect()
    from flows.retry import plan_retry

    planned = plan_retry(config, stage, wanted, most)
    console = Console()
    rows = sum(planned.rows.values())
    told = f"{counted(rows, 'row')} in {counted(len(planned.rows), 'shard')} of {stage} can be asked again."
    console.print(Text(told), soft_wrap=True)
    if planned.stale:
        console.print(
            Text(
                f"{counted(len(planned.stale), 'shard')} with such rows made by other settings or of other rows than"
                f" now: `privasis backfill --stages {stage} --reprocess stale` first."
            ),
            soft_wrap=True,
        )
    if dry or not rows:
        return
    check_models(config)
    sys.stderr.write("starting Prefect, Ray and the models\n")
    report = _run(config, stage, wanted, most, len(planned.rows))
    bill = usd(sum(each.shard.bill_usd for each in report.receipts))
    replayed = sum(each.shard.replayed for each in report.receipts)
    console.print(
        Text(
            f"{counted(report.asked, 'row')} asked again, {report.passed:,} kept now. In all they have cost {bill},"
            f" what was answered before included ({replayed:,} events replayed)."
        ),
        soft_wrap=True,
    )
    if report.passed:
        below = "triplets" if stage == "records" else "splits"
        again = f"{below.capitalize()} of these shards, if there are any, are stale now"
        console.print(Text(f"{again}: `privasis backfill --stages {below} --reprocess stale`"), soft_wrap=True)


def _run(config: RunConfig, stage: "RetryStage", wanted: Wanted, most: int | None, shards: int) -> "RetryReport":
    from flows.commands.failures import Failures
    from flows.retry import retry as flow
    from tasks.shards.retrying.steps import retry_shard

    failures = Failures()
    retry_shard.on_failure(failures.note)
    with prefect_api(settings().cache / "prefect") as ready:
        sys.stderr.write(f"watch it at {ready().removesuffix('/api')}\n")
        try:
            return flow(config, stage, wanted, most)
        except BudgetSpent:
            raise
        except EXPECTED as error:
            raise failures.told(shards) or error from error


def _rejects_of(store: StageStore) -> str:
    """Return the table of a stage's rejected rows, empty where it has none of this kind."""
    return next((table for table in ("rejects", "triplet_rejects") if table in store.tables), "")
