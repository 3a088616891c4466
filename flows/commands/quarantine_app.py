"""How ``privasis quarantine`` is called."""

from typing import Annotated, Literal

from typer import Argument, Option, Typer

from flows.commands.flags import RunFlags, takes_run_flags
from flows.commands.places import HELP, Place, place

quarantine_app = Typer(no_args_is_help=True, help="Rejected rows: count them, list them, ask them again.")

Folder = Annotated[Place, Argument(parser=place, metavar="DATASET_DIR", help=HELP)]
Stage = Annotated[Literal["records", "triplets"] | None, Option(help="Only of this stage.")]
Reason = Annotated[list[str], Option(metavar="NAME", help="Only rejected for this reason. Repeat for more.")]
Step = Annotated[list[str], Option(metavar="NAME", help="Only rejected at this step. Repeat for more.")]
Ids = Annotated[list[str], Option("--id", metavar="RECORD_ID", help="Only this row. Repeat for more.")]
Filtered = Annotated[bool, Option("--filtered", help="Also rows whose text was no record of anybody.")]

NONE: list[str] = []


@quarantine_app.command("count")
def count_rejects(folder: Folder, stage: Stage = None, filtered: Filtered = False) -> None:
    """Count rejected rows by step and reason, and say how many could end otherwise.

    \b
    privasis quarantine count data/records
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands import quarantine as command

    command.show_counts(folder, stage, command.wanted(filtered=filtered))


@quarantine_app.command("list")
def list_rejects(
    folder: Folder,
    stage: Stage = None,
    reason: Reason = NONE,
    step: Step = NONE,
    ids: Ids = NONE,
    filtered: Filtered = False,
    most: Annotated[int, Option(min=1, help="Lines.")] = 50,
    texts: Annotated[bool, Option("--texts", help="Also what models wrote: it may quote a record.")] = False,
) -> None:
    """List rejected rows: which, of which shard, at which step, why. No text of a record unless asked for.

    \b
    privasis quarantine list data/records --reason invalid_reply
    privasis quarantine list data/records --id r-1b2c3d4e-00000042 --texts
    """  # noqa: D301
    from flows.commands import quarantine as command

    command.show_list(folder, stage, command.wanted(reason, step, ids, filtered=filtered), most, texts=texts)


@quarantine_app.command("retry")
@takes_run_flags(without=("shards",))
def retry_rejects(
    flags: RunFlags,
    stage: Annotated[Literal["records", "triplets"], Option(help="Whose rejected rows.")] = "records",
    reason: Reason = NONE,
    step: Step = NONE,
    ids: Ids = NONE,
    filtered: Filtered = False,
    most: Annotated[int | None, Option(min=1, help="Shards in this run; the rest stays.")] = None,
    dry_run: Annotated[bool, Option("--dry-run", help="Say how many rows it would ask, and do nothing.")] = False,
) -> None:
    """Ask rejected rows again, them alone. What passes is kept, no other row changes, nothing answered is paid twice.

    \b
    privasis quarantine retry -c run.toml --dry-run
    privasis quarantine retry -c run.toml --reason invalid_reply
    privasis quarantine retry -c run.toml --stage triplets
    """  # noqa: D301
    from flows.commands import quarantine as command

    command.retry(flags, stage, command.wanted(reason, step, ids, filtered=filtered), most, dry=dry_run)
