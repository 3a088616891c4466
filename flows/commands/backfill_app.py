"""How ``privasis backfill`` is called."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from typer import Option

from flows.commands.flags import RunFlags, takes_run_flags

WHICH = "Which shards"
HOW = "How many, in which order"


@takes_run_flags(without=("shards",))
def backfill(
    flags: RunFlags,
    stages: Annotated[
        str, Option(metavar="A,B,...", help="Of records, triplets, splits, evaluation.", rich_help_panel=WHICH)
    ] = "records,triplets",
    reprocess: Annotated[
        Literal["missing", "missing_and_failed", "stale", "all"],
        Option(
            help="What to make: what was never begun, what was begun, also what other settings made, everything.",
            rich_help_panel=WHICH,
        ),
    ] = "missing_and_failed",
    shards: Annotated[
        str | None, Option(metavar="A:B", help="Shards A to B, B not included.", rich_help_panel=WHICH)
    ] = None,
    select: Annotated[
        list[str], Option(metavar="NAME", help="A shard by its name. Repeat for more.", rich_help_panel=WHICH)
    ] = [],  # noqa: B006 - typer wants a list
    state: Annotated[
        str,
        Option(metavar="A,B,...", help="Only of missing, open, failed, stale, committed.", rich_help_panel=WHICH),
    ] = "",
    reason: Annotated[
        str, Option(help="Only shards whose failure, or reason of being stale, says this.", rich_help_panel=WHICH)
    ] = "",
    made_before: Annotated[
        datetime | None,
        Option(help="Only shards that were not committed since, in UTC: with --reprocess all.", rich_help_panel=WHICH),
    ] = None,
    order: Annotated[
        Literal["begun_first", "ascending", "descending", "oldest_first", "smallest_first"],
        Option(help="What comes first.", rich_help_panel=HOW),
    ] = "begun_first",
    at_once: Annotated[int | None, Option(min=1, help="Shards worked on at once.", rich_help_panel=HOW)] = None,
    most: Annotated[
        int | None, Option(min=1, help="Shards in this run, of all stages; the rest stays.", rich_help_panel=HOW)
    ] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say what it would do and cost, and do nothing.")] = False,
    sanitizer: Annotated[str, Option(help="Of stage evaluation; see `evaluate cleaner`.")] = "triplets",
    evaluator: Annotated[str | None, Option(help="Of stage evaluation; see `evaluate cleaner`.")] = None,
) -> None:
    """Make what several stages lack, or make it again, in the order in which one reads another.

    \b
    privasis backfill -c run.toml --dry-run
    privasis backfill -c run.toml --state failed --reason BackendUnavailable
    privasis backfill -c run.toml --stages records,triplets --shards 3:5 --reprocess stale
    privasis backfill -c run.toml --most 100 --order descending
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands import backfill as command

    moment = None if made_before is None else made_before.replace(tzinfo=UTC)
    command.run_selected(
        flags,
        stages,
        shards,
        {
            "reprocess": reprocess,
            "names": tuple(select),
            "states": tuple(name.strip() for name in state.split(",")) if state else (),
            "reason": reason,
            "made_before": moment,
            "order": order,
            "at_once": at_once,
            "most": most,
        },
        (sanitizer, evaluator),
        dry=dry_run,
    )
