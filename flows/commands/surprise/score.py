"""``privasis surprise score``: plan over the input, run the flow, say what was scored."""

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.checks import make_home
from flows.commands.errors import EXPECTED, Code, RunFailed
from flows.commands.quiet import quiet_prefect
from flows.commands.surprise.opening import holds_scores
from flows.commands.wording import counted
from flows.config import ConfigError
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards import files
from infra.shards.location import Location
from infra.shards.plan import Plan, Reprocess
from tasks.report.marks import visible
from tasks.surprise.score_rows import NllSum
from tasks.surprise.scoring.scorer import PLAIN, Pass, PassName

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

    from flows.surprise_score import ScoreReport, ScoreRun


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreFlags:
    """What a person said on the command line; see ``score_app``."""

    inputs: tuple[Location, ...]
    dataset: str
    root: Location
    model: str
    tokenizer: str | None
    format: str
    suffixes: tuple[str, ...]
    text: str
    messages: str | None
    id: str | None
    group: str | None
    labels: str | None
    labelled: str | None
    regions: str | None
    supervised: str | None
    strata: tuple[str, ...]
    prompt: str | None
    violating: str | None
    compliant: str | None
    plain: bool
    context: int | None
    stride: int | None
    workers: int
    shard_size: int


_COLUMNS = ("text", "messages", "id", "group", "labels", "labelled", "regions", "supervised", "strata")


def run(flags: ScoreFlags, reprocess: Reprocess) -> None:
    """Score the rows of an input that are not yet.

    Raises:
        ConfigError: an option is wrong.
        InputUnfit: the input cannot be read, a column is in no row, or ids repeat.
        PackageMissing, ModelMissing: what the reference model needs is not there.
        RunFailed: shards did not get done, or not one row could be scored.
    """
    for place in flags.inputs:
        _check_is_no_scores(place)
    quiet_prefect()
    from flows.surprise_score import job_of, plan_scores

    asked = run_of(flags)
    asked.model.check_installed()
    rows = asked.input.open()
    rows.check_columns(asked.input.columns.used())  # before a model is unpacked
    _say(f"{counted(rows.rows, 'row')} in the input; looking for {asked.model.name}")  # which may be unpacked first
    job = job_of(asked)
    store = job.store()
    store.sweep()  # what killed runs have left, also where nothing is left to do and the flow is not called
    planned = plan_scores(asked, job, rows, reprocess)
    if not planned.todo:
        if held := planned.counts()["held"]:
            raise RunFailed(f"another process is scoring {counted(held, 'shard')}: wait for it", Code.OUTSIDE)
        _print_nothing_to_do(asked, planned)
        return
    make_home(asked.root / asked.dataset)
    report = _run(asked, reprocess, planned)
    print_scored(asked, report, store.layout.tables["scores"], planned)
    check_some(report, store.layout.tables["score_rejects"])


def _check_is_no_scores(place: Location) -> None:
    """Refuse a folder of scores alone: they are no texts to be scored.

    Raises:
        ConfigError: it is one.
    """
    if holds_scores(place) and not files.is_folder(place / "manifest" / "records"):
        raise ConfigError(
            f"{place}: was scored already: `privasis surprise calibrate`, `mask` and `explain` take this folder; to"
            " score other texts, name them"
        )


def run_of(flags: ScoreFlags) -> "ScoreRun":
    """Return the run that a command line describes.

    Raises:
        ConfigError: an option is wrong; the message says which.
    """
    from flows.surprise_score import ScoreRun

    values: dict[str, Any] = {
        "dataset": flags.dataset,
        "root": flags.root,
        "input": {
            "paths": flags.inputs,
            "format": flags.format,
            "suffixes": flags.suffixes,
            "columns": {name: getattr(flags, name) for name in _COLUMNS},
        },
        "model": {"name": flags.model, "tokenizer": flags.tokenizer, "context": flags.context, "stride": flags.stride},
        "passes": _passes(flags),
        "workers": flags.workers,
        "shard_size": flags.shard_size,
    }
    try:
        return ScoreRun.model_validate(values)
    except ValidationError as error:
        raise ConfigError("; ".join(map(_fault, error.errors(include_url=False)))) from error


def _fault(error: "ErrorDetails") -> str:
    place = ".".join(map(str, error["loc"]))
    if place == "dataset":
        return (
            f"--dataset {error['input']}: a name, of letters, digits and . _ - after a letter or a digit; the folder"
            " that it lies in is --root"
        )
    return f"{place}: {error['msg'].removeprefix('Value error, ')}"


def _passes(flags: ScoreFlags) -> tuple[Pass, ...]:
    if (flags.violating is None) is not (flags.compliant is None):
        raise ConfigError("a contrast has two prompts: give --violating and --compliant, or neither")
    given: list[tuple[PassName, str, str | None]] = [
        ("prompted", "--prompt", flags.prompt),
        ("violating", "--violating", flags.violating),
        ("compliant", "--compliant", flags.compliant),
    ]
    prompted = [Pass(name, _prompt(option, value)) for name, option, value in given if value is not None]
    passes = ((PLAIN,) if flags.plain else ()) + tuple(prompted)
    if not passes:
        raise ConfigError("--no-plain leaves nothing to score: give --prompt, or --violating and --compliant")
    return passes


def _prompt(option: str, value: str) -> str:
    """Read a prompt: one word is the name of a file, taken as it is; anything else is the prompt itself."""
    if len(value.split()) != 1 or "\n" in value.strip():
        if not value.strip():
            raise ConfigError(f"{option}: the prompt is empty")
        return value if value.endswith("\n") else f"{value}\n"
    try:
        text = Path(value).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(
            f"{option} {value}: a single word is the name of a file, and it cannot be read: {error}"
        ) from error
    if not text:
        raise ConfigError(f"{option} {value}: the file is empty")
    return text


def _run(asked: "ScoreRun", reprocess: Reprocess, planned: Plan) -> "ScoreReport":
    from flows.commands.failures import Failures
    from flows.surprise_score import score
    from tasks.surprise.steps import score_shard

    failures = Failures()
    score_shard.on_failure(failures.note)
    shards, rows = len(planned.todo), sum(map(len, planned.todo))
    _say(f"{counted(rows, 'row')} to score in {counted(shards, 'shard')}; starting Prefect, Ray and the model")
    with prefect_api(settings().cache / "prefect") as ready:
        _say(f"watch it at {ready().removesuffix('/api')}")
        try:
            return score(asked, reprocess)
        except EXPECTED as error:
            raise failures.told(shards) or error from error


def _print_nothing_to_do(asked: "ScoreRun", planned: Plan) -> None:
    console = Console()
    finished = f"{planned.counts()['committed']:,} of {counted(len(planned.shards), 'shard')}"
    _line(console, f"Nothing to do: {finished} of {asked.root / asked.dataset} scored with these settings.")
    _print_stale(console, planned)


def _print_stale(console: Console, planned: Plan) -> None:
    done = set(planned.todo)
    if stale := sum(each.state == "stale" and each.shard not in done for each in planned.shards):
        _line(
            console,
            f"{counted(stale, 'shard')} of another input, model or prompt than now: `--reprocess stale` scores them"
            " again.",
        )


def print_scored(asked: "ScoreRun", report: "ScoreReport", folder: Location, planned: Plan) -> None:
    """Print what became of the rows in the shards that ``report`` is about, and where it is."""
    receipts = report.receipts
    reasons = sum((Counter(receipt.reasons) for receipt in receipts), Counter[str]())
    table = Table.grid(padding=(0, 2))
    table.add_column()
    table.add_column(justify="right", style="bold")
    table.add_column(style="dim")
    rows = [("documents", f"{sum(receipt.documents for receipt in receipts):,}", _replayed(report))]
    rows.append(("tokens", f"{sum(receipt.tokens for receipt in receipts):,}", asked.model.name))
    for name in [str(each.name) for each in asked.passes]:
        total = sum((receipt.nll.get(name, NllSum()) for receipt in receipts), NllSum())
        if total.mean is not None:
            rows.append((f"mean NLL, {name}", f"{total.mean:.3f}", f"nats, over {total.tokens:,} tokens that have one"))
    rows.append(
        ("rejected", f"{reasons.total():,}", ", ".join(f"{many:,} {why}" for why, many in reasons.most_common()))
    )
    for name, figure, detail in rows:
        table.add_row(Text(name), Text(figure), Text(visible(detail)))
    console = Console()
    console.print(table)
    there = f", {report.shards_before:,} were there" if report.shards_before else ""
    _line(console, f"\n{counted(len(receipts), 'shard')} in {folder}{there}")
    if reasons:
        _line(console, f"Each rejected row, with its place and reason: {folder.with_name('score_rejects')}/*.parquet")
    _print_stale(console, planned)


def check_some(report: "ScoreReport", rejects: Location) -> None:
    """Refuse to call it a success where not one row of a data set became a document.

    Raises:
        RunFailed: so it is; it says why, and what helps.
    """
    if report.shards_before or any(receipt.documents for receipt in report.receipts):
        return
    reasons = sum((Counter(receipt.reasons) for receipt in report.receipts), Counter[str]())
    ((most, many),) = reasons.most_common(1)
    raise RunFailed(
        f"not one row could be scored, {many:,} of {reasons.total():,} for {most}: read the details in {rejects}, mend"
        " the input or name other columns, and run it again with `--reprocess stale`",
        Code.USAGE,
    )


def _replayed(report: "ScoreReport") -> str:
    replayed = sum(receipt.replayed for receipt in report.receipts)
    return f"{replayed:,} of them scored by an earlier try" if replayed else ""


def _line(console: Console, text: str) -> None:
    console.print(Text(text), soft_wrap=True)  # a path that is cut in two cannot be copied


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
