"""The command ``privasis``: what it is called with. What it does is in ``flows.commands``, imported when needed."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Exit, Option, Typer, echo

from flows.commands.backfill_app import backfill
from flows.commands.browse import browse
from flows.commands.clean_app import clean, serve
from flows.commands.corpus.app import corpus_app
from flows.commands.evaluate.app import evaluate_app
from flows.commands.export_app import export
from flows.commands.flags import RunFlags, takes_run_flags
from flows.commands.group import Commands
from flows.commands.money_app import check_identities, cost
from flows.commands.places import HELP, Place, place
from flows.commands.quarantine_app import quarantine_app
from flows.commands.review.app import review_app
from flows.commands.split_app import split
from flows.commands.stack_app import down, ps, up
from flows.commands.status_app import status as run_status
from flows.commands.study.app import study_app
from flows.commands.surprise.cli import surprise_app
from flows.commands.train.app import train_app

app = Typer(
    name="privasis",
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,  # their tracebacks would show local variables, and so text of records
    rich_markup_mode="rich",
)
RECORDS, SANITIZING, SURPRISE, RUNNING = "Records", "Sanitizing", "Texts of your own", "Running it"  # in `--help`
shards_app = Typer(no_args_is_help=True, help="Look at the shards of a data set, and mend them.")
app.add_typer(shards_app, name="shards", rich_help_panel=RUNNING)
app.add_typer(quarantine_app, name="quarantine", rich_help_panel=RUNNING)
app.add_typer(review_app, name="review", rich_help_panel=RECORDS)
app.add_typer(surprise_app, name="surprise", rich_help_panel=SURPRISE)
app.add_typer(corpus_app, name="corpus", rich_help_panel=SURPRISE)
app.add_typer(evaluate_app, name="evaluate", rich_help_panel=SANITIZING)
app.add_typer(study_app, name="study", rich_help_panel=SANITIZING)
app.add_typer(train_app, name="train", rich_help_panel=SANITIZING)
app.command(rich_help_panel=SANITIZING)(split)
app.command(rich_help_panel=RUNNING)(up)
app.command(rich_help_panel=RUNNING)(ps)
app.command(rich_help_panel=RUNNING)(down)
app.command("status", rich_help_panel=RUNNING)(run_status)
app.command(rich_help_panel=RUNNING)(cost)
app.command(rich_help_panel=RUNNING)(backfill)
app.command(rich_help_panel=RECORDS)(browse)
app.command(rich_help_panel=RECORDS)(check_identities)
app.command(rich_help_panel=SANITIZING)(export)
app.command(rich_help_panel=SURPRISE)(clean)
app.command(rich_help_panel=SURPRISE)(serve)

Json = Annotated[bool, Option("--json", help="Print JSON for a program instead.")]
DatasetFolder = Annotated[Place, Argument(parser=place, metavar="DATASET_DIR", help=HELP)]


def _print_version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        echo(f"privasis {version('privasis-factory')}")
        raise Exit


@app.callback(
    epilog="Exit codes: 0 done; 1 a bug, with a traceback; 2 wrong usage or configuration; 3 something outside is"
    " missing or did not answer, run it again and it goes on where it stood; 4 a data set is damaged; 130 or 143"
    " interrupted."
)
def privasis(
    version: Annotated[
        bool, Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Make private records of people who do not exist, and keep private spans out of training.

    \b
    privasis doctor                        what works on this machine
    privasis init run.toml                 a run file to edit
    privasis preview -c run.toml           one record, prompt by prompt
    privasis estimate -c run.toml          calls, tokens, cost and hours
    privasis synthesize -c run.toml        make the records; run it again to go on
    privasis status data/records --watch   how that goes, from another terminal
    privasis report data/records           what they are like
    privasis browse data                   everything in a browser: records, shards, triplets, scores
    privasis sanitize -c run.toml          triplets: text, request, clean text
    privasis evaluate cleaner -c run.toml  what a sanitizer leaks and keeps
    privasis export data/records           chats to train on, with a data card
    privasis clean letter.txt -i "..."     a text of your own; `serve` over HTTP
    privasis surprise score notes.jsonl    what a public model finds surprising,
    privasis surprise --help               and how to mask it
    """  # noqa: D301 - \b keeps the lines apart


@app.command(rich_help_panel=RECORDS)
@takes_run_flags()
def synthesize(
    flags: RunFlags,
    reprocess: Annotated[
        Literal["missing", "missing_and_failed", "stale", "all"],
        Option(help="What to make again: nothing begun, what was begun, also what other settings made, everything."),
    ] = "missing_and_failed",
) -> None:
    """Make records, shard by shard. What is finished stays; the same command again goes on where it stood.

    \b
    privasis synthesize --records 20 --words 200
    privasis synthesize -c run.toml --model openai:gpt-4.1-mini=3 --model llama_cpp:qwen2.5-coder-0.5b=1
    privasis synthesize -c run.toml --shards 0:8
    privasis synthesize -c run.toml --set synthesis.refinement.pool_size=100
    """  # noqa: D301
    from flows.commands import synthesize as command

    command.run(flags, reprocess)


@app.command(rich_help_panel=SANITIZING)
@takes_run_flags(
    without=(
        *("first", "records", "shards", "language", "words"),
        *("refinement_steps", "no_diversity", "no_record_type"),
    )
)
def sanitize(
    flags: RunFlags,
    reprocess: Annotated[
        Literal["missing", "missing_and_failed", "stale", "all"],
        Option(help="What to make again: nothing begun, what was begun, also what changed below, everything."),
    ] = "missing_and_failed",
) -> None:
    """Make triplets (text, request, clean text) of all finished records. The same command again goes on.

    \b
    privasis sanitize -c run.toml
    privasis sanitize --dataset records --set sanitization.chunk_characters=256
    privasis sanitize -c run.toml --reprocess stale
    """  # noqa: D301
    from flows.commands import sanitize as command

    command.run(flags, reprocess)


@app.command(rich_help_panel=RECORDS)
@takes_run_flags(without=("records", "shards", "in_flight", "workers", "budget"))
def preview(
    flags: RunFlags,
    records: Annotated[int, Option("--records", "-n", min=1, max=5, help="Records, 1 to 5.")] = 1,
    triplet: Annotated[
        bool, Option("--triplet", help="Sanitize them, too, and show both texts side by side; see `sanitize`.")
    ] = False,
) -> None:
    """Make a few records here and show every prompt and reply. Nothing is written, no Prefect, no Ray.

    \b
    privasis preview --words 150
    privasis preview -c run.toml --first 7 --model simulator:simulator
    privasis preview -c run.toml --triplet     of a record that the data set has, else of a new one
    """  # noqa: D301
    from flows.commands import preview as command

    command.run(flags, records, triplet)


@app.command(rich_help_panel=RECORDS)
@takes_run_flags(without=("in_flight", "workers", "budget"))
def estimate(
    flags: RunFlags,
    of: Annotated[
        Literal["synthesize", "sanitize"], Option(help="The command whose run is estimated; sanitize needs records.")
    ] = "synthesize",
    calls_per_second: Annotated[
        float | None, Option(min=0.001, metavar="N", help="Calls answered a second, all workers together.")
    ] = None,
    json: Json = False,
) -> None:
    """Say what a run will take before it starts: calls, tokens, cost and hours, step by step.

    \b
    privasis estimate -c run.toml --records 100000 --calls-per-second 50
    privasis estimate --model openai:gpt-4.1-mini --records 1000 --json
    privasis estimate -c run.toml --of sanitize
    """  # noqa: D301
    from flows.commands import estimate as command

    command.run(flags, of, calls_per_second, json)


@app.command(rich_help_panel=RUNNING)
@takes_run_flags(without=("in_flight", "workers", "budget"))
def batches(
    flags: RunFlags,
    cancel: Annotated[
        bool, Option("--cancel", help="Stop those that are under way; stop the run itself first.")
    ] = False,
) -> None:
    """Show the batches that unfinished shards have sent to a provider; see `batch` in the run file.

    \b
    privasis batches -c run.toml
    privasis batches -c run.toml --cancel
    """  # noqa: D301
    from flows.commands import batches as command

    command.run(flags, cancel=cancel)


@shards_app.command()
@takes_run_flags(without=("in_flight", "workers", "budget"))
def status(flags: RunFlags) -> None:
    """Show where the shards of a run stand. Takes the flags of `synthesize`, and says what it would do.

    \b
    privasis shards status -c run.toml
    """  # noqa: D301
    from flows.commands import shards as command

    command.status(flags)


@shards_app.command()
def verify(folder: DatasetFolder) -> None:
    """Read every file of a data set again and compare it with the manifest. Exits with 4 where something is wrong.

    \b
    privasis shards verify data/records
    """  # noqa: D301
    from flows.commands import shards as command

    raise Exit(command.check(folder))


@shards_app.command()
def matrix(
    folder: DatasetFolder,
    html: Annotated[Path | None, Option(metavar="FILE", help="Write a page, too.")] = None,
) -> None:
    """Show where every shard of every stage stands, and how many rows are in quarantine.

    \b
    privasis shards matrix data/records
    privasis shards matrix data/records --html matrix.html
    """  # noqa: D301
    from flows.commands import repair as command

    command.matrix(folder, html)


@shards_app.command()
def repair(
    folder: DatasetFolder,
    yes: Annotated[bool, Option("--yes", help="Do it; without this it is only said what would be done.")] = False,
) -> None:
    """Find damaged and left-over files and leases, and say what would be done about them. Exits with 4 if any is left.

    \b
    privasis shards repair data/records
    privasis shards repair data/records --yes
    """  # noqa: D301
    from flows.commands import repair as command

    raise Exit(command.repair(folder, really=yes))


@app.command(rich_help_panel=RECORDS)
def report(folder: DatasetFolder, json: Json = False) -> None:
    """Show a data set: its figures, one record with its attributes marked; and write DATASET_DIR/report.html.

    \b
    privasis report data/records
    """  # noqa: D301
    from flows.commands import report as command

    command.run(folder, json)


@app.command(rich_help_panel=RECORDS)
def compare(
    folders: Annotated[list[Place], Argument(parser=place, metavar="DATASET_DIR...", help="Folders of data sets.")],
    html: Annotated[Path | None, Option(metavar="FILE", help="Write a page, too.")] = None,
    json: Json = False,
) -> None:
    """Put data sets side by side, in the layouts of the paper's Tables 2, 8 and 9, beside its rows.

    \b
    privasis compare data/full data/no-diversity --html compare.html
    """  # noqa: D301
    from flows.commands import compare as command

    command.run(folders, html, json)


@app.command(rich_help_panel=RUNNING)
def doctor(
    config: Annotated[
        Path | None, Option("--config", "-c", help="Run file whose models are to be looked for, not the default one.")
    ] = None,
) -> None:
    """Find out what works on this machine, what is missing, and what to do about it.

    \b
    privasis doctor
    privasis doctor -c run.toml
    """  # noqa: D301
    from flows.commands import doctor as command

    raise Exit(command.run(config))


@app.command(rich_help_panel=RUNNING)
def init(
    file: Annotated[Path, Argument(metavar="[FILE]", help="Where to write it.")] = Path("run.toml"),
    force: Annotated[bool, Option("--force", help="Write over a file that is there.")] = False,
) -> None:
    """Write a run file with every setting, its default and what it means.

    \b
    privasis init
    privasis init big.toml
    """  # noqa: D301
    from flows.commands import init as command

    command.run(file, force)


def main() -> None:
    """Run the command line; the entry point of the console script."""
    app()
