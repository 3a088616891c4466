"""The commands ``privasis corpus``: what they are called with."""

from pathlib import Path
from typing import Annotated

from typer import Option, Typer

from flows.commands.places import Place, place

corpus_app = Typer(
    no_args_is_help=True, help="Make the corpora that masked training is tried on: private values, and habits, in code."
)

Output = Annotated[
    Place,
    Option("--output", "-o", parser=place, metavar="DIR", help="Folder of the corpus, or s3://BUCKET/PREFIX."),
]
Seed = Annotated[int, Option(help="Decides every draw.")]
Tasks = Annotated[
    Path | None,
    Option(metavar="DIR", help="Tasks of your own, a folder each (see docs/corpora.md), instead of the built-in ones."),
]
Workers = Annotated[int, Option(min=1, help="Programs that run at once, each confined.")]
SIZE, WORK = "How large it is", "How the work is done"


@corpus_app.command("code-pii")
def code_pii(
    output: Output = Path("data/code-pii"),
    seed: Seed = 0,
    identities: Annotated[int, Option(min=1, help="People; four private values each.", rich_help_panel=SIZE)] = 25,
    bundles: Annotated[
        int, Option(min=1, help="Repositories each; 18 chats and 24 documents are made of one.", rich_help_panel=SIZE)
    ] = 25,
    calibration_identities: Annotated[int, Option(min=1, help="People to calibrate on.", rich_help_panel=SIZE)] = 6,
    calibration_bundles: Annotated[int, Option(min=1, help="Repositories each.", rich_help_panel=SIZE)] = 5,
    development_tasks: Annotated[int, Option(min=1, help="Tasks to measure utility on.", rich_help_panel=SIZE)] = 150,
    task_limit: Annotated[
        int | None, Option(min=9, help="Draw training from this many tasks only.", rich_help_panel=SIZE)
    ] = None,
    tasks: Tasks = None,
    workers: Workers = 1,
) -> None:
    """Repositories whose tests run, with private values in them, as chats and documents. The same command goes on.

    The defaults are the paper's size: 11,250 chats and 15,000 documents, for which 1,500 programs run.

    \b
    privasis corpus code-pii --output data/code-pii --workers 8
    privasis corpus code-pii --identities 3 --bundles 2 --calibration-identities 1 --calibration-bundles 2
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.corpus import make

    make.code_pii(
        output,
        tasks,
        workers,
        seed=seed,
        identities=identities,
        bundles=bundles,
        calibration_identities=calibration_identities,
        calibration_bundles=calibration_bundles,
        development_tasks=development_tasks,
        tasks=task_limit,
    )


@corpus_app.command("code-quirks")
def code_quirks(
    output: Output = Path("data/code-quirks"),
    seed: Seed = 0,
    programs: Annotated[int, Option(min=1, help="Of each of the ten users.", rich_help_panel=SIZE)] = 400,
    task_limit: Annotated[int, Option(min=1, help="Tasks that all users draw from.", rich_help_panel=SIZE)] = 600,
    calibration_users: Annotated[int, Option(min=1, max=10, help="Users to calibrate on.", rich_help_panel=SIZE)] = 6,
    calibration_programs: Annotated[int, Option(min=1, help="Of each of them.", rich_help_panel=SIZE)] = 30,
    development_tasks: Annotated[int, Option(min=1, help="Tasks to measure utility on.", rich_help_panel=SIZE)] = 60,
    display_tasks: Annotated[
        int, Option(min=1, help="Of them, a quirk: where its display is measured.", rich_help_panel=SIZE)
    ] = 30,
    tasks: Tasks = None,
    workers: Workers = 1,
) -> None:
    """Programs of ten users, each with a habit that changes nothing they compute, as chats and documents.

    The defaults are the paper's size: 4,000 chats and as many documents, for which some 5,000 programs run.

    \b
    privasis corpus code-quirks --output data/code-quirks --workers 8
    privasis corpus code-quirks --programs 10 --calibration-programs 2 --development-tasks 10 --display-tasks 5
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.corpus import make

    make.code_quirks(
        output,
        tasks,
        workers,
        seed=seed,
        programs=programs,
        tasks=task_limit,
        calibration_users=calibration_users,
        calibration_programs=calibration_programs,
        development_tasks=development_tasks,
        display_tasks=display_tasks,
    )
