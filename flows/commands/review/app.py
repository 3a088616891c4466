"""The commands under ``privasis review``: what they are called with. What they do is imported when needed."""

from pathlib import Path
from typing import Annotated

from typer import Argument, Option, Typer

from flows.commands.places import Place, place

review_app = Typer(
    no_args_is_help=True, help="Let people judge, blind, whether records are natural and coherent beside real texts."
)

ReviewDir = Annotated[Path, Argument(metavar="REVIEW_DIR", help="Folder of the review.")]


@review_app.command()
def make(
    folders: Annotated[
        list[Place], Argument(parser=place, metavar="DATASET_DIR...", help="Folders of data sets: <root>/<name>.")
    ],
    human: Annotated[
        list[Path],
        Option(
            metavar="PATH", help="Texts that people wrote: Parquet, JSON lines, a text, or a folder; several times."
        ),
    ],
    records: Annotated[int, Option("--records", "-n", min=1, help="Of each source.")] = 128,
    output: Annotated[Path, Option("--output", "-o", metavar="DIR", help="Folder of the review.")] = Path("review"),
    key: Annotated[
        Path | None, Option(metavar="FILE", help="Where the key goes; beside the folder if not said.")
    ] = None,
    text_column: Annotated[str, Option(metavar="NAME", help="Column of the human-written texts.")] = "text",
    seed: Annotated[int, Option(help="Decides the draw.")] = 0,
) -> None:
    """Draw a blind sheet: as many records as human-written texts, of the same lengths, and a key that stays with you.

    \b
    privasis review make data/records --human letters/
    privasis review make data/a data/b --human enron.parquet --text-column body -n 64 -o review
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.review import make as command

    command.run(folders, human, records=records, folder=output, key_file=key, text_column=text_column, seed=seed)


@review_app.command()
def serve(
    folder: ReviewDir,
    reviewer: Annotated[
        list[str] | None, Option(metavar="NAME", help="Who reviews; several times. Remembered for the next start.")
    ] = None,
    host: Annotated[str, Option(help="Address to listen at; from other machines the links hold a token more.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int, Option(min=1, max=65535, help="Port.")] = 8090,
) -> None:
    """Serve the sheet as a web page, a link for each reviewer. Every answer is on the disk before it counts as saved.

    \b
    privasis review serve review --reviewer ann --reviewer ben
    """  # noqa: D301
    from flows.commands.review import serve as command

    command.run(folder, reviewer or [], host, port)


@review_app.command()
def export(
    folder: ReviewDir,
    reviewer: Annotated[str, Option(metavar="NAME", help="Who reviews.")],
    output: Annotated[
        Path | None,
        Option("--output", "-o", metavar="FILE", help=".html: the page whole in a file; .csv: a table to fill in."),
    ] = None,
) -> None:
    """Write the sheet of a reviewer to one file that needs no server; `import` takes the answers.

    \b
    privasis review export review --reviewer cem
    privasis review export review --reviewer dea -o dea.csv
    """  # noqa: D301
    from flows.commands.review import offline as command

    command.export(folder, reviewer, output)


@review_app.command("import")
def import_(
    folder: ReviewDir,
    files: Annotated[list[Path], Argument(metavar="FILE...", help="Answers: saved by the page (.json), or a .csv.")],
    replace: Annotated[
        bool, Option("--replace", help="Where a file differs from what is recorded, let the file hold.")
    ] = False,
) -> None:
    """Take answers that were given without a server. A file that does not fit the sheet is refused whole.

    \b
    privasis review import review answers-cem-*.json dea.csv
    """  # noqa: D301
    from flows.commands.review import offline as command

    command.take(folder, files, replace=replace)


@review_app.command()
def table(
    folder: ReviewDir,
    key: Annotated[Path | None, Option(metavar="FILE", help="The key; beside the folder if not said.")] = None,
    json: Annotated[bool, Option("--json", help="Print JSON for a program instead, and write nothing.")] = False,
) -> None:
    """Show what came out, beside the paper's figures; write results.html, .md and .json into the folder.

    \b
    privasis review table review
    """  # noqa: D301
    from flows.commands.review import table as command

    command.run(folder, key, as_json=json)
