"""``privasis study code-pii`` and ``code-quirks``: print the plan, or run all of it and print the page."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.errors import Code, RunFailed
from flows.commands.quiet import quiet_prefect
from flows.config import ConfigError
from infra.prefect_local import prefect_api
from infra.sandbox.run import SandboxUnavailable
from infra.settings import settings
from tasks.masking_study.config import Scale, ScaleName, StudyName, scale_of

if TYPE_CHECKING:
    from flows.masking_study import StudyRun


@dataclass(frozen=True, slots=True)
class Asked:
    """What a person said on the command line; see ``masking_app``."""

    size: ScaleName
    output: Path
    seeds: str | None
    reference: str | None
    only: tuple[str, ...]
    opf: str | None
    workers: int


def run(study: StudyName, asked: Asked, *, dry: bool) -> None:
    """Do what is not done yet of a study, and print its page; or print its plan.

    Raises:
        ConfigError: a flag is wrong, or the study's parts do not fit.
        RunFailed: training stopped, or programs cannot be run here.
        ModelMissing, PackageMissing: what a model needs is not there.
    """
    scale = scale_asked(scale_of(study, asked.size), asked)
    check_methods(scale, asked)
    if dry:
        print_plan(study, scale, asked)
        return
    quiet_prefect()
    from flows.masking_study import StudyRun

    wanted = StudyRun(size=asked.size, scale=scale, output=asked.output, opf=asked.opf, workers=asked.workers)
    sys.stderr.write(f"{study}, {asked.size}: starting Prefect; everything goes to {wanted.home}\n")
    _run(wanted, asked.only)
    page = wanted.home / "study.md"
    sys.stdout.write(page.read_text(encoding="utf-8"))
    sys.stderr.write(f"Written: {page}, study.json, tradeoff.png, coverage.png\n")


def _run(wanted: "StudyRun", only: tuple[str, ...]) -> None:
    from flows.commands.study.unfit import UNFIT
    from flows.masking_study import masking_study
    from tasks.training.stopped import TrainingStopped

    with prefect_api(settings().cache / "prefect") as ready:
        sys.stderr.write(f"watch it at {ready().removesuffix('/api')}\n")
        try:
            masking_study(wanted, only)
        except UNFIT as error:
            raise ConfigError(str(error)) from error
        except TrainingStopped as error:
            raise RunFailed(str(error), Code.USAGE) from error
        except SandboxUnavailable as error:
            raise RunFailed(str(error), Code.OUTSIDE) from error


def scale_asked(scale: Scale, asked: Asked) -> Scale:
    """Return the scale with the seeds and the reference model that were asked for.

    Raises:
        ConfigError: a seed is no number.
    """
    changed: dict[str, object] = {} if asked.reference is None else {"reference": asked.reference}
    if asked.seeds is not None:
        parts = [part.strip() for part in asked.seeds.split(",")]
        if not all(part.isdecimal() for part in parts):
            raise ConfigError(f"--seeds {asked.seeds}: give whole numbers, apart by commas")
        changed["seeds"] = tuple(dict.fromkeys(map(int, parts)))
    return scale.model_copy(update=changed)


def check_methods(scale: Scale, asked: Asked) -> None:
    """Refuse a row that the tables do not have.

    Raises:
        ConfigError: there is none of that name.
    """
    from tasks.masking_study.grid import planned

    known = [method.name for method in planned(scale.methods, has_filter=asked.opf is not None)]
    if strange := [name for name in asked.only if name not in known]:
        raise ConfigError(f"--method {strange[0]}: no such row; there are {', '.join(known)}")


def print_plan(study: StudyName, scale: Scale, asked: Asked) -> None:
    """Print all that a study would do, without doing any of it."""
    from tasks.masking_study.grid import cells, planned

    rows = planned(scale.methods, has_filter=asked.opf is not None)
    models = [cell for cell in cells(rows, scale.seeds) if not asked.only or cell.method.name in asked.only]
    training, settings_ = scale.training, scale.training.settings
    told = {
        "corpus": ", ".join(f"{name} {value}" for name, value in scale.corpus.made() if value is not None),
        "reference": scale.reference,
        "policies": ", ".join(f"SM{recall}" for recall in scale.methods.recalls),
        "start": training.start.model_dump_json(),
        "adapters": "none: all weights" if training.lora is None else training.lora.model_dump_json(),
        "training": f"{settings_.steps:,} steps of {settings_.train_batch_size} rows of {training.length:,} tokens,"
        f" rate {settings_.learning_rate:g}, {settings_.scheduler.type}, {settings_.dtype}, {training.engine}",
        "attack": "none" if scale.measuring.extraction is None else scale.measuring.extraction.model_dump_json(),
        "answers": scale.measuring.answers.model_dump_json(),
        "seeds": ", ".join(map(str, scale.seeds)),
        "models": f"{len(models):,}",
    }
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_header=False, title=f"{study}, {asked.size}")
    table.add_column("what", no_wrap=True)
    table.add_column("how", overflow="fold")
    for name, value in told.items():
        table.add_row(name, Text(value))
    console = Console()
    console.print(table)
    console.print(Text("Each with each seed: " + "; ".join(method.name for method in rows)))
