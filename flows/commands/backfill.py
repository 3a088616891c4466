"""``privasis backfill``: choose, show what it would take, run the flow, say what is left."""

import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, get_args

from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.budget import BudgetSpent
from flows.commands.checks import check_models, check_settings
from flows.commands.errors import EXPECTED, Code, RunFailed
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.wording import counted
from flows.config import ConfigError, RunConfig
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards.plan import REDONE, PlannedShard
from infra.shards.ranges import ShardRange
from tasks.report.formats import usd
from tasks.report.marks import visible

if TYPE_CHECKING:
    from flows.backfill import BackfillReport, Chosen, Selection, Stage
    from flows.evaluate import Asked

MOST_LISTED = 12
# Shards of which states each choice of --reprocess makes; one that has failed was begun.
REACHED: Mapping[str, frozenset[str]] = {
    choice: frozenset(states).union(("failed",) if "open" in states else ()) for choice, states in REDONE.items()
}


def rows_of(shards: str | None, run: RunConfig) -> ShardRange | None:
    """Read ``A:B``, numbers of shards, as the rows that they hold.

    Raises:
        ConfigError: it is no such text.
    """
    if shards is None:
        return None
    start, colon, stop = shards.partition(":")
    if not (colon and start.isdecimal() and stop.isdecimal() and int(start) < int(stop)):
        raise ConfigError(f"--shards {shards}: give A:B with 0 <= A < B, such as 0:4 for the first four shards")
    return ShardRange(int(start) * run.shard_size, int(stop) * run.shard_size)


def asked_of(flags: RunFlags, run: RunConfig, sanitizer: str, evaluator: str | None) -> "Asked":
    """Return who judges whom.

    Raises:
        ConfigError: nothing of these names.
    """
    from flows.commands.evaluate.asked import model_named, sanitizer_named
    from flows.commands.evaluate.cleaner import is_split
    from flows.evaluate import Asked

    return Asked(
        sanitizer=sanitizer_named(run, flags, sanitizer),
        evaluator=model_named(run, flags, evaluator, "--evaluator"),
        only_tests=is_split(run),
    )


def run_selected(
    flags: RunFlags,
    stages: str,
    shards: str | None,
    said: Mapping[str, Any],
    judge: tuple[str, str | None],
    *,
    dry: bool,
) -> None:
    """Make what is selected, or say what that would be.

    Args:
        flags: the run's.
        stages: names, with commas between.
        shards: A:B.
        said: other fields of the selection.
        judge: sanitizer and evaluator, where the evaluation is among the stages.
        dry: do nothing.

    Raises:
        ConfigError: the run or the selection is described wrongly.
        RunFailed: shards did not get done.
    """
    config = run_of(flags)
    check_settings(config)
    quiet_prefect()
    from flows.backfill import STAGES, ChosenState, Selection

    names = tuple(name.strip() for name in stages.split(","))
    if unknown := [name for name in names if name not in STAGES]:
        raise ConfigError(f"--stages {stages}: no stage {unknown[0]!r}; there are {','.join(STAGES)}")
    known = get_args(ChosenState)
    if unknown := [name for name in said["states"] if name not in known]:
        raise ConfigError(f"--state: no state {unknown[0]!r}; there are {','.join(known)}")
    if said["states"] and not REACHED[said["reprocess"]].intersection(said["states"]):
        least = next(each for each, reached in REACHED.items() if reached.intersection(said["states"]))
        raise ConfigError(
            f"--state {','.join(said['states'])}: --reprocess {said['reprocess']} makes no such shard: add --reprocess"
            f" {least}"
        )
    try:
        for name in said["names"]:
            ShardRange.parse(name)
    except ValueError as error:
        raise ConfigError(f"--select: {error}; `privasis shards matrix` shows them") from error
    selection = Selection(stages=names, rows=rows_of(shards, config), **said)
    asked = asked_of(flags, config, *judge) if "evaluation" in names else None
    run(config, selection, asked, dry=dry)


def run(config: RunConfig, selection: "Selection", asked: "Asked | None", *, dry: bool) -> None:
    """Make what is selected, or say what that would be.

    Raises:
        ConfigError: a stage cannot be planned.
        RunFailed: shards did not get done.
    """
    from flows.backfill import choose, stages_of

    console, began = Console(), datetime.now(UTC)
    stages = stages_of(config, selection, asked)
    left, chosen = selection.most, []
    for stage in stages:
        chosen.append(choose(stage, selection, left))
        left = None if left is None else left - len(chosen[-1].shards)
    print_outlook(console, config, chosen)
    for line in _left_out(stages, chosen, selection):
        _line(console, line)
    if dry:
        console.print(Text("Nothing was done: leave out --dry-run to do it."), soft_wrap=True)
        return
    if not any(each.shards for each in chosen):
        if held := sum(each.held for each in chosen):
            raise RunFailed(f"other processes are making {counted(held, 'shard')}: wait for them", Code.OUTSIDE)
        _line(console, "Nothing to do.")
        return
    check_models(config)
    print_report(console, _run(config, selection, asked), config, selection, began)


def print_outlook(console: Console, run: RunConfig, chosen: "list[Chosen]") -> None:
    """Print what each stage would make, what of it is known to cost, and what follows from it below."""
    from flows.commands.estimate import outlook

    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold")
    grid.add_column(justify="right")
    grid.add_column()
    moved: set[ShardRange] = set()
    for each in chosen:
        shards = [planned.shard for planned in each.shards]
        listed = ", ".join(f"{planned.shard.name} ({each.standing(planned)})" for planned in each.shards)
        if len(shards) > MOST_LISTED:
            listed = f"{', '.join(shard.name for shard in shards[:MOST_LISTED])} and {len(shards) - MOST_LISTED:,} more"
        grid.add_row(each.stage, counted(len(shards), "shard"), Text(visible(listed)))
        if each.rest:
            grid.add_row("", "", Text(f"{counted(each.rest, 'more shard')} of the selection: for the next run"))
        below = moved.difference(shards)
        if below:
            grid.add_row("", "", Text(f"and up to {counted(len(below), 'shard')} more whose input this run changes"))
        moved.update(shards)
        if shards and each.stage in ("records", "triplets"):
            cost, source = outlook(run, "synthesize" if each.stage == "records" else "sanitize", shards)
            told = f"at most {cost.calls:,.0f} calls, {usd(cost.cost_usd)}: what journals hold is not asked again"
            grid.add_row("", "", Text(told, style="dim"))
            grid.add_row("", "", Text(source, style="dim"))
    console.print(grid)


def print_report(
    console: Console, report: "BackfillReport", run: RunConfig, selection: "Selection", began: datetime
) -> None:
    """Print what was made, and what is left."""
    for done in report.stages:
        rejected = sum(each.filtered + each.quarantined for each in done.receipts)
        kept = sum(each.records for each in done.receipts)
        bill = usd(sum(each.bill_usd for each in done.receipts))
        rows = f": {kept:,} rows kept, {rejected:,} rejected, {bill}" if done.receipts else ""
        _line(console, f"{done.chosen.stage}: {counted(len(done.chosen.shards), 'shard')} made{rows}")
    if report.rest:
        since = selection.made_before or began
        again = f" with --made-before {since:%Y-%m-%dT%H:%M:%S}" if selection.reprocess == "all" else ""
        _line(console, f"{counted(report.rest, 'shard')} of the selection left: give the same command again{again}.")
    folder = shlex.quote(str(run.root / run.dataset))
    _line(console, f"\n  privasis shards matrix {folder}    where every shard stands")


def _left_out(stages: "Sequence[Stage]", chosen: "Sequence[Chosen]", selection: "Selection") -> Iterator[str]:
    """Say of each shard that was named, and is to be made in no stage, where it stands."""
    found = {name for each in chosen for name in each.names}
    left = [name for name in selection.names if name not in found]
    if not left or any(each.rest for each in chosen):  # those of the rest are for the next run
        return
    states = [(stage.name, {each.shard.name: each for each in stage.plan("all").shards}) for stage in stages]
    for name in left[:MOST_LISTED]:
        told = [f"{stage}: {_why(shards[name])}" for stage, shards in states if name in shards]
        yield visible(f"{name} is left out: {'; '.join(told) or 'no shard of these stages is called so'}")
    if any(shards.get(name) for name in left for _, shards in states):
        yield "What is committed is made again by --reprocess all, what is stale by --reprocess stale."


def _why(planned: PlannedShard) -> str:
    return f"{planned.state}: {planned.reason}" if planned.reason else planned.state


def _run(config: RunConfig, selection: "Selection", asked: "Asked | None") -> "BackfillReport":
    from flows.backfill import backfill
    from flows.commands.failures import Failures
    from tasks.evaluation.steps import evaluate_shard
    from tasks.sanitization.steps import sanitize_shard
    from tasks.synthesis.steps import synthesize_shard

    failures = Failures()
    for task in (synthesize_shard, sanitize_shard, evaluate_shard):
        task.on_failure(failures.note)
    sys.stderr.write("starting Prefect, Ray and the models\n")
    with prefect_api(settings().cache / "prefect") as ready:
        sys.stderr.write(f"watch it at {ready().removesuffix('/api')}\n")
        try:
            return backfill(config, selection, asked)
        except BudgetSpent:
            raise
        except EXPECTED as error:
            raise failures.told(len(failures.errors)) or error from error


def _line(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)  # a path that is cut in two cannot be copied
