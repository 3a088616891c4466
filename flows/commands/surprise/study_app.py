"""``privasis surprise study``: what it is called with."""

from pathlib import Path
from typing import Annotated, Literal

from typer import Argument, Option


def study(
    benchmark: Annotated[
        Literal["dead-code", "creddata", "presidio-research", "hallmark", "piibench"],
        Argument(
            metavar="BENCHMARK",
            help="dead-code (MBPP and HumanEval), creddata, presidio-research, hallmark or piibench.",
        ),
    ],
    data: Annotated[Path, Option(metavar="DIR", help="Folder with the benchmark's published files.")],
    output: Annotated[Path, Option("--output", "-o", metavar="DIR", help="Where results and scores go.")] = Path(
        "studies"
    ),
    model: Annotated[
        str | None,
        Option(help="Reference model, as for `privasis surprise score`; default: an embedded one for code or prose."),
    ] = None,
    method: Annotated[
        list[str],
        Option(metavar="NAME", help="Another method beside the usual ones, as for `privasis surprise evaluate`."),
    ] = [],  # noqa: B006 - typer wants a list, and copies it
    workers: Annotated[int, Option(min=1, help="Processes that score; they share the cores.")] = 1,
) -> None:
    """Reproduce a benchmark of the paper: read, score, calibrate, judge; the same command again goes on.

    Writes study.md (our figures beside the paper's), study.json and roc.png.

    \b
    privasis surprise study dead-code --data benchmarks/
    privasis surprise study creddata --data benchmarks/creddata --method opf:openai/privacy-filter
    privasis surprise study presidio-research --data benchmarks/ --method presidio
    """  # noqa: D301 - \b keeps the lines apart
    from flows.commands.surprise import study as command

    command.run(benchmark, data, output, model, tuple(method), workers)
