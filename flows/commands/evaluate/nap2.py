"""``privasis evaluate nap2``: judge a file of rewrites, show the leak ratio beside the paper's."""

import json
import sys
from dataclasses import asdict
from pathlib import Path

from pydantic import ValidationError
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.checks import check_models
from flows.commands.evaluate.asked import model_named
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.config import ConfigError, MixedEngine, RunConfig
from infra.llm.connect import MiniLM
from tasks.evaluation.nap2.judge import LeakRatio
from tasks.evaluation.nap2.rows import Columns, Nap2Row, Nap2Unusable, read_nap2
from tasks.evaluation.report.paper import PAPER
from tasks.report.marks import visible


def run(flags: RunFlags, file: Path, columns: str | None, evaluator: str | None, *, as_json: bool) -> LeakRatio:
    """Judge the rewrites of ``file`` that are not judged yet, and show the leak ratio of all.

    Raises:
        ConfigError: the file or a flag is wrong.
        BackendUnavailable: the evaluator does not answer; what was answered is kept.
    """
    config = run_of(flags)
    named = columns_of(columns)
    rows = _rows(file, named)
    quiet_prefect()
    ratio = _scored(config, file, named, model_named(config, flags, evaluator, "--evaluator"), rows)
    if as_json:
        sys.stdout.write(f"{json.dumps(asdict(ratio), indent=2, allow_nan=False)}\n")
    else:
        Console().print(_table(file.name, ratio, len(rows)))
    return ratio


def columns_of(said: str | None) -> Columns:
    """Read ``original=NAME,sanitized=NAME,sensitive=NAME``; what is not said is called just that.

    Raises:
        ConfigError: it is not of that form.
    """
    pairs = [part.partition("=") for part in (said or "").split(",") if part]
    try:
        return Columns.model_validate({name.strip(): column.strip() for name, _, column in pairs})
    except ValidationError as error:
        raise ConfigError(
            f"--columns {said}: give original=NAME,sanitized=NAME,sensitive=NAME, or some of it"
        ) from error


def _rows(file: Path, columns: Columns) -> list[Nap2Row]:
    try:
        return read_nap2(file, columns)
    except Nap2Unusable as error:
        raise ConfigError(str(error)) from error


def _scored(config: RunConfig, file: Path, columns: Columns, judge: MixedEngine, rows: list[Nap2Row]) -> LeakRatio:
    from flows.engines import engines, planned_job
    from infra.shards import files
    from tasks.evaluation.nap2.steps import Nap2Job, plan_nap2, ratio_of, score_nap2

    serving = config.model_copy(update={"models": (judge,), "embedder": MiniLM()})
    job = Nap2Job(
        root=config.root.resolve(),
        file=file.resolve(),
        sha256=files.sha256(file.read_bytes()),
        columns=columns,
        seed=config.seed,
        config=config.evaluation,
        evaluator=planned_job(serving).models[0],
        in_flight=config.in_flight,
    )
    job.store().sweep()
    if plan_nap2(job, len(rows)).todo:
        check_models(serving)
        with engines(serving) as served:
            score_nap2(job.model_copy(update={"evaluator": served.models[0]}))
    return ratio_of(job)


def _table(name: str, ratio: LeakRatio, rows: int) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("rewrites", "leak ratio, %", "95 %", "leaks", "judged", "not judged"):
        table.add_column(heading, justify="left" if heading == "rewrites" else "right")
    value, low, high = (f"{100 * each:.1f}" if each is not None else "–" for each in
                        (ratio.ratio.value, ratio.ratio.low, ratio.ratio.high))  # fmt: skip
    cells = (visible(name), value, f"{low}–{high}", f"{ratio.leaks:,}", f"{ratio.ratio.of:,}", f"{ratio.unjudged:,}")
    table.add_row(*(Text(cell, style="bold cyan") for cell in cells))
    for theirs in PAPER.table7:
        table.add_row(*(Text(cell, style="dim") for cell in (f"{theirs.name}, paper", f"{theirs.leak_ratio:.1f}")))
    return table
