"""``privasis estimate``: what a run will take, before it starts."""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Literal

from pydantic import TypeAdapter
from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.commands.checks import check_settings
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.wording import counted, duration
from flows.config import ConfigError, MixedEngine, RunConfig
from infra.llm.connect import Endpoint, OpenAIEmbedding, price_of
from infra.llm.prices import BATCH_SHARE, FREE, cost
from infra.shards.manifest import ShardRecord
from infra.shards.ranges import ShardRange
from tasks.report.formats import count, usd
from tasks.report.marks import visible
from tasks.sanitization import estimate as sanitization
from tasks.synthesis.chain import SINGLE_SHOT
from tasks.synthesis.estimate import Estimate, PricedModel, Rates, estimate, measured, scaled, shipped

Of = Literal["synthesize", "sanitize"]
_STEPS = TypeAdapter(dict[str, dict[str, int]])


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is still to be made.

    Attributes:
        rows: how many, and what is to be said about them.
        alike: shards that the same settings have made.
        expected: what a row takes by a shipped table, and what that was measured on.
    """

    rows: int
    notes: list[str]
    alike: list[ShardRecord]
    expected: Rates
    measured_on: str


def run(flags: RunFlags, of: Of, calls_per_s: float | None, as_json: bool) -> None:
    """Show what the rows that are still to be made will take.

    Raises:
        ConfigError: the run is described wrongly, or there are no records to sanitize.
        UnknownPrice: nobody has said what a paid model costs.
    """
    config = run_of(flags)
    check_settings(config)
    quiet_prefect()
    ahead = _synthesis(config) if of == "synthesize" else _sanitization(config)
    models = [_priced(entry, is_batched=of == "synthesize") for entry in config.models]
    rates, source = _rates(ahead)
    speed = calls_per_s or _speed(ahead.alike)
    outlook = estimate(ahead.rows, rates, models, speed)
    notes = [_time(outlook, speed, calls_per_s), source, *ahead.notes]
    if as_json:
        figures = asdict(outlook) | {"rates": {step: rate.model_dump() for step, rate in rates.items()}, "notes": notes}
        sys.stdout.write(f"{json.dumps(figures, indent=2, ensure_ascii=False)}\n")
        return
    console = Console()
    console.print(_steps(outlook))
    if len(outlook.models) > 1:
        console.print(_models(outlook))
    for note in notes:
        console.print(Text(note), soft_wrap=True)


def outlook(config: RunConfig, of: Of, shards: Sequence[ShardRange]) -> tuple[Estimate, str]:
    """Return what certain shards will take, were nothing of them in a journal, and where that is known from.

    Raises:
        UnknownPrice: nobody has said what a paid model costs.
    """
    ahead = _synthesis(config, shards) if of == "synthesize" else _sanitization(config, shards)
    rates, source = _rates(ahead)
    models = [_priced(entry, is_batched=of == "synthesize") for entry in config.models]
    return estimate(ahead.rows, rates, models, _speed(ahead.alike)), source


def _synthesis(config: RunConfig, shards: Sequence[ShardRange] | None = None) -> Ahead:
    from flows.engines import planned_job
    from flows.synthesize import plan_run

    rows = sum(map(len, plan_run(config, "missing_and_failed").todo if shards is None else shards))
    job = planned_job(config)
    return Ahead(
        rows,
        _notes(config, rows),
        [record for record in job.store().manifest.records().values() if record.spec_hash == job.spec_hash()],
        scaled(config.synthesis),
        f"{shipped().rows} records of the simulator and scaled to these settings",
    )


def _sanitization(config: RunConfig, shards: Sequence[ShardRange] | None = None) -> Ahead:
    from flows.sanitize import plan_sanitization, planned_sanitization

    job, planned = planned_sanitization(config), plan_sanitization(config, "missing_and_failed")
    if not planned.shards:
        raise ConfigError(
            f"{config.root / config.dataset}: no finished records to sanitize: `privasis synthesize` first"
        )
    words: list[int] = []
    for shard in planned.todo if shards is None else shards:
        words += job.records().read_shard("records", shard, ["words"])["words"].to_pylist()
    table = sanitization.shipped()
    return Ahead(
        len(words),
        [],
        [record for record in job.store().manifest.records().values() if record.spec_hash == job.spec_hash()],
        sanitization.rates_at(sum(words) / len(words) if words else table.words[0]),
        f"{table.rows} records of the simulator and scaled to the length of yours, whatever else is set",
    )


def _priced(entry: MixedEngine, *, is_batched: bool) -> PricedModel:
    price = price_of(entry.engine) if isinstance(entry.engine, Endpoint) else FREE
    shares = {} if entry.batch is None or not is_batched else dict.fromkeys(SINGLE_SHOT, BATCH_SHARE)
    return PricedModel(entry.name, entry.weight, partial(cost, price=price), shares)


def _rates(ahead: Ahead) -> tuple[Rates, str]:
    """Return what a row takes, and where that is known from."""
    if not ahead.alike:
        return ahead.expected, (
            f"Tokens by step: measured on {ahead.measured_on}. A real model writes longer lists and repairs some"
            " replies: make 20 rows with it, then estimate again."
        )
    rows = sum(record.rows for record in ahead.alike)
    sums = (_STEPS.validate_python(record.summary.notes["steps"]) for record in ahead.alike)
    return measured(rows, sums), f"Tokens by step: measured on {rows:,} rows that these settings have made."


def _speed(alike: list[ShardRecord]) -> float | None:
    """Return calls answered a second from the first commit to the last, pauses included; None of fewer than two."""
    by_time = sorted(alike, key=lambda record: record.created_at)
    if len(by_time) < 2:
        return None
    elapsed = (by_time[-1].created_at - by_time[0].created_at).total_seconds()
    return sum(record.summary.calls for record in by_time[1:]) / elapsed if elapsed else None


def _notes(config: RunConfig, rows: int) -> list[str]:
    notes = []
    if rows < config.records:
        there = counted(config.records - rows, "record")
        notes.append(f"{there} of the {config.records:,} asked for: there already, or another process is at it.")
    if isinstance(config.embedder, OpenAIEmbedding):
        notes.append("What the embedding model costs is not counted.")
    return notes


def _time(outlook: Estimate, speed: float | None, given: float | None) -> str:
    if outlook.hours is None:
        return (
            "How long it takes: --calls-per-second N says how fast calls are answered, two finished shards measure it."
        )
    measured_on = "" if given else ", as fast as the finished shards were made, pauses included"
    return f"{duration(outlook.hours)} at {speed:,.1f} calls a second{measured_on}."


def _steps(outlook: Estimate) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, show_footer=True)
    table.add_column("step", footer=counted(outlook.rows, "row"))
    tokens = outlook.tokens
    for heading, total in (
        ("calls", count(outlook.calls)),
        ("tokens read", count(tokens.prompt)),
        ("of a cache", count(tokens.cached)),
        ("written", count(tokens.completion)),
        ("cost", usd(outlook.cost_usd)),
    ):
        table.add_column(heading, justify="right", footer=total)
    for step in outlook.steps:
        figures = map(count, (step.calls, step.prompt, step.cached, step.completion))
        table.add_row(Text(visible(step.step)), *figures, usd(step.cost_usd))
    return table


def _models(outlook: Estimate) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    table.add_column("model")
    for heading in ("rows", "calls", "cost"):
        table.add_column(heading, justify="right")
    for model in outlook.models:
        table.add_row(Text(visible(model.model)), count(model.rows), count(model.calls), usd(model.cost_usd))
    return table
