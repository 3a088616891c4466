"""``privasis surprise score``: what it is called with."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option

from flows.commands.places import Place, place

INPUT = "What is scored"
MODEL = "How it is scored"
WORK = "How the work is done"


def score(
    inputs: Annotated[
        list[Place],
        Argument(
            parser=place,
            metavar="INPUT...",
            help="Parquet (rows), JSONL, also .gz (rows), other files (each a text), folders of these, patterns, or"
            " DATASET_DIR of `privasis synthesize`. In s3://BUCKET/PREFIX: such data sets, and Parquet.",
        ),
    ],
    dataset: Annotated[str, Option(help="Name of the data set of scores.")] = "scored",
    root: Annotated[
        Place, Option(parser=place, metavar="DIR", help="Folder of the data sets, or s3://BUCKET/PREFIX.")
    ] = Path("data"),
    model: Annotated[
        str,
        Option(
            help="Reference model: smollm2-135m, qwen2.5-coder-0.5b, qwen2.5-coder-1.5b, a folder, a hub name, or the"
            " URL of a vLLM server (http://127.0.0.1:8000/v1).",
            rich_help_panel=MODEL,
        ),
    ] = "qwen2.5-coder-0.5b",
    tokenizer: Annotated[
        str | None,
        Option(
            help="Tokenizer of a served model: a folder or a hub name. Default: where the server has the model from.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    format: Annotated[
        Literal["auto", "parquet", "jsonl", "text"],
        Option(help="auto goes by the suffix; text takes every file as one text.", rich_help_panel=INPUT),
    ] = "auto",
    suffix: Annotated[
        list[str],
        Option(metavar=".EXT", help="In folders, only texts whose names end so. Repeatable.", rich_help_panel=INPUT),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    text_column: Annotated[str, Option(help="Column of the texts.", rich_help_panel=INPUT)] = "text",
    messages_column: Annotated[
        str | None,
        Option(help="Column of chats (list of role, content, labels), instead of texts.", rich_help_panel=INPUT),
    ] = None,
    id_column: Annotated[
        str | None, Option(help="Column of ids; without, they are file and row.", rich_help_panel=INPUT)
    ] = None,
    group_column: Annotated[
        str | None,
        Option(help="Column of the identity or user within which masks propagate.", rich_help_panel=INPUT),
    ] = None,
    labels_column: Annotated[
        str | None,
        Option(help="Column of private spans: list of start, end (code points), category.", rich_help_panel=INPUT),
    ] = None,
    labelled_column: Annotated[
        str | None,
        Option(help="Column that is true where somebody looked; without, where labels are.", rich_help_panel=INPUT),
    ] = None,
    regions_column: Annotated[
        str | None, Option(help="Column of the text's fields: list of start, end, name.", rich_help_panel=INPUT)
    ] = None,
    supervised_column: Annotated[
        str | None,
        Option(help="Column of what may be masked: list of start, end. The rest is context.", rich_help_panel=INPUT),
    ] = None,
    stratum: Annotated[
        list[str],
        Option(
            metavar="COLUMN",
            help="Column to break results down by. Files have path, always, and folder, suffix, name. Repeatable.",
            rich_help_panel=INPUT,
        ),
    ] = [],  # noqa: B006
    prompt: Annotated[
        str | None,
        Option(
            metavar="FILE|TEXT",
            help="Score the texts also after this prompt. One word is the name of a file; a text gets a line break.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    violating: Annotated[
        str | None,
        Option(metavar="FILE|TEXT", help="For contrast: the prompt that asks for private text.", rich_help_panel=MODEL),
    ] = None,
    compliant: Annotated[
        str | None,
        Option(metavar="FILE|TEXT", help="For contrast: the prompt that forbids it.", rich_help_panel=MODEL),
    ] = None,
    plain: Annotated[
        bool, Option("--plain/--no-plain", help="Score the texts alone as well.", rich_help_panel=MODEL)
    ] = True,
    context: Annotated[
        int | None,
        Option(
            min=2,
            help="Most tokens read at once; longer texts slide. Default: 4096, or less if the model's limit.",
            rich_help_panel=MODEL,
        ),
    ] = None,
    stride: Annotated[
        int | None,
        Option(min=1, help="Tokens that each further window scores. Default: half the context.", rich_help_panel=MODEL),
    ] = None,
    workers: Annotated[
        int, Option(min=1, help="Processes; each loads the model, they share the cores.", rich_help_panel=WORK)
    ] = 1,
    shard_size: Annotated[int, Option(min=1, max=100_000, help="Rows a shard.", rich_help_panel=WORK)] = 512,
    reprocess: Annotated[
        Literal["missing", "missing_and_failed", "stale", "all"],
        Option(
            help="What to score again: nothing begun, what was begun, also what changed (input, model, prompts),"
            " everything.",
            rich_help_panel=WORK,
        ),
    ] = "missing_and_failed",
) -> None:
    """Score every token of texts or chats by a reference model. The same command again goes on where it stood.

    \b
    privasis surprise score notes.jsonl --text-column note --id-column id --labels-column spans
    privasis surprise score src/ --suffix .py --suffix .js --stratum folder --model qwen2.5-coder-0.5b
    privasis surprise score 'chats/*.parquet' --messages-column messages --group-column user --dataset chats
    privasis surprise score data/records --dataset records-scored --violating ask.txt --compliant policy.txt
    privasis surprise score notes.jsonl --model http://127.0.0.1:8000/v1
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.surprise import score as command

    command.run(
        command.ScoreFlags(
            inputs=tuple(inputs),
            dataset=dataset,
            root=root,
            model=model,
            tokenizer=tokenizer,
            format=format,
            suffixes=tuple(suffix),
            text=text_column,
            messages=messages_column,
            id=id_column,
            group=group_column,
            labels=labels_column,
            labelled=labelled_column,
            regions=regions_column,
            supervised=supervised_column,
            strata=tuple(stratum),
            prompt=prompt,
            violating=violating,
            compliant=compliant,
            plain=plain,
            context=context,
            stride=stride,
            workers=workers,
            shard_size=shard_size,
        ),
        reprocess,
    )
