"""The commands under ``privasis evaluate``: what they are called with. What they do is imported when needed."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option, Typer

from flows.commands.evaluate.measured_app import extraction, quirks, utility
from flows.commands.flags import RunFlags, takes_run_flags

evaluate_app = Typer(no_args_is_help=True, help="Judge what sanitizers leak and what they keep.")

MAKING = (
    *("first", "records", "shards", "language", "words", "model"),
    *("refinement_steps", "no_diversity", "no_record_type"),
)

Evaluator = Annotated[
    str | None,
    Option(
        metavar="MODEL",
        help="Who judges: the name of a model of the run file, or KIND:NAME as in `synthesize --model`. Needed where"
        " the run file has several models.",
    ),
]
Json = Annotated[bool, Option("--json", help="Print JSON for a program instead.")]


@evaluate_app.command()
@takes_run_flags(without=MAKING)
def cleaner(
    flags: RunFlags,
    sanitizer: Annotated[
        str,
        Option(
            help="triplets (what the pipeline made), untouched, empty, masked (baselines), presidio or"
            " presidio:SPACY_MODEL (masks what it finds), a .parquet or .jsonl file with record_id and sanitized, the"
            " address of a `privasis serve`, or model:MODEL, asked by one prompt.",
        ),
    ] = "triplets",
    evaluator: Evaluator = None,
    second_evaluator: Annotated[
        str | None, Option(metavar="MODEL", help="Asked which guess is closer, too: how far do two evaluators agree?")
    ] = None,
    everything: Annotated[
        bool, Option("--all", help="Evaluate all triplets, not only those that `privasis split` set aside for a test.")
    ] = False,
    reprocess: Annotated[
        Literal["missing", "missing_and_failed", "stale", "all"],
        Option(help="What to judge again: nothing begun, what was begun, also what changed below, everything."),
    ] = "stale",
    json: Json = False,
) -> None:
    """Judge a sanitizer on the triplets of a data set: leaks of three kinds, and what is kept (PV section 4.2).

    \b
    privasis evaluate cleaner -c run.toml
    privasis evaluate cleaner -c run.toml --sanitizer untouched
    privasis evaluate cleaner -c run.toml --sanitizer outputs.parquet --evaluator openai:gpt-oss-120b
    privasis evaluate cleaner -c run.toml --sanitizer model:openai:cleaner-4b
    privasis evaluate cleaner -c run.toml --sanitizer http://127.0.0.1:8080    a cleaner that `privasis serve` serves
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.evaluate import cleaner as command

    command.run(flags, sanitizer, evaluator, second_evaluator, everything=everything, reprocess=reprocess, as_json=json)


@evaluate_app.command()
@takes_run_flags(without=(*MAKING, "dataset", "workers", "budget"))
def nap2(
    flags: RunFlags,
    file: Annotated[Path, Argument(metavar="FILE", help="Rewrites: .csv, .jsonl or .parquet.")],
    columns: Annotated[
        str | None,
        Option(
            metavar="original=NAME,sanitized=NAME,sensitive=NAME",
            help="What the columns are called, where it is not just that.",
        ),
    ] = None,
    evaluator: Evaluator = None,
    json: Json = False,
) -> None:
    """Score rewrites of NaP²: the share that tells as much of what is private as the original (PV section 4.4).

    \b
    privasis evaluate nap2 rewrites.csv -c run.toml --columns original=utterance,sensitive=persona
    """  # noqa: D301
    from flows.commands.evaluate import nap2 as command

    command.run(flags, file, columns, evaluator, as_json=json)


for measured in (extraction, quirks, utility):
    evaluate_app.command()(measured)
