"""``privasis study code-pii`` and ``code-quirks``: what they are called with. What they do is imported when needed."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Option

Size = Annotated[
    Literal["mini", "paper"],
    Option(
        "--scale",
        help="mini: a model from scratch, on two cores; paper: GPT-OSS-20B with LoRA, on a GPU with 140 GB.",
    ),
]
Output = Annotated[Path, Option("--output", "-o", metavar="DIR", help="Everything goes to DIR/STUDY-SCALE.")]
Seeds = Annotated[str | None, Option(metavar="N,N,...", help="Training seeds. Default: the scale's three.")]
Model = Annotated[str | None, Option(help="Reference model, whose surprise decides. Default: the scale's.")]
Only = Annotated[
    list[str],
    Option("--method", metavar="NAME", help="Train only this row of the tables, now; repeat it."),
]
Opf = Annotated[
    str | None, Option(metavar="MODEL", help="OpenAI Privacy Filter: folder or hub name. Default: left out.")
]
Workers = Annotated[int, Option(min=1, help="Processes that score; they share the cores.")]
DryRun = Annotated[bool, Option("--dry-run", help="Print what would be done, and do nothing.")]


def code_pii(
    scale: Size = "mini",
    output: Output = Path("studies"),
    seeds: Seeds = None,
    model: Model = None,
    method: Only = [],  # noqa: B006 - typer wants a list, and copies it
    opf: Opf = None,
    workers: Workers = 1,
    dry_run: DryRun = False,
) -> None:
    """Train on code with private values, masked in every way, and attack each model (SM section 3). Resumes.

    Ends in study.md, study.json, tradeoff.png and coverage.png: our figures beside the paper's.

    \b
    privasis study code-pii --scale mini --seeds 0
    privasis study code-pii --scale paper --dry-run
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.study import masking as command

    command.run("code-pii", command.Asked(scale, output, seeds, model, tuple(method), opf, workers), dry=dry_run)


def code_quirks(
    scale: Size = "mini",
    output: Output = Path("studies"),
    seeds: Seeds = None,
    model: Model = None,
    method: Only = [],  # noqa: B006 - typer wants a list, and copies it
    opf: Opf = None,
    workers: Workers = 1,
    dry_run: DryRun = False,
) -> None:
    """Train on code with users' habits, masked in every way, and look which habits show (SM section 3). Resumes.

    Ends in study.md, study.json, tradeoff.png and coverage.png: our figures beside the paper's.

    \b
    privasis study code-quirks --scale mini --seeds 0
    """  # noqa: D301
    from flows.commands.study import masking as command

    command.run("code-quirks", command.Asked(scale, output, seeds, model, tuple(method), opf, workers), dry=dry_run)
