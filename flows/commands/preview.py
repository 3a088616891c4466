"""``privasis preview``: records, or triplets of them, made before the reader's eyes; all is shown, nothing written."""

import asyncio
import itertools
from typing import TYPE_CHECKING

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.rule import Rule
from rich.text import Text

from flows.commands.checks import check_models, check_settings
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from infra.llm.types import Reply, Request
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from tasks.events import MemoryLog
from tasks.report.formats import usd
from tasks.report.marks import visible
from tasks.report.terminal import render_record
from tasks.synthesis.outcome import Record, Reject, Spent

if TYPE_CHECKING:
    from infra.shards.store import StageStore
    from tasks.sanitization.outcome import Triplet
    from tasks.sanitization.source import Source
    from tasks.sanitization.steps import SanitizationJob
    from tasks.synthesis.steps import SynthesisJob


def run(flags: RunFlags, records: int, triplet: bool) -> None:
    """Make ``records`` records in this process and show how; with ``triplet``, sanitize them, too.

    A record that the data set has is not made again to be sanitized.

    Raises:
        ConfigError: the run is described wrongly.
        BackendUnavailable: a model does not answer.
    """
    config = run_of(flags)
    check_settings(config)
    check_models(config)
    quiet_prefect()
    from flows.engines import engines, job_of
    from flows.sanitize import sanitization_job

    console = Console()
    indices = range(config.first, config.first + records)
    with engines(config) as served:
        sanitizing = sanitization_job(config, served.models) if triplet else None
        asyncio.run(_preview(job_of(config, served), sanitizing, indices, console))


async def _preview(job: "SynthesisJob", sanitizing: "SanitizationJob | None", indices: range, console: Console) -> None:
    from tasks.sanitization.source import Source
    from tasks.sanitization.steps import chain_of as sanitizer_of
    from tasks.synthesis.steps import chain_of, reservoir

    number = itertools.count(1)

    def show(request: Request, reply: Reply) -> None:
        console.print(render_call(next(number), request, reply))

    shared = Shared()
    context = WorkerContext(LocalKeeper(reservoir(job.root, job.dataset, job.seed)), _shared=shared)
    try:
        chain = await chain_of(job, context, MemoryLog(), show)
        sanitizer = await sanitizer_of(sanitizing, context, MemoryLog(), show) if sanitizing else None
        for index in indices:
            console.print(Rule(Text(f"record {index}", "bold")))
            source = finished(sanitizing.records(), index) if sanitizing else None
            if source is None:
                outcome = await chain.run(index)
                console.print(render_outcome(outcome))
                if isinstance(outcome, Reject):
                    continue
                source = Source.of_row(outcome.row())
            if sanitizer is not None:
                console.print(render_sanitized(await sanitizer.run(source)))
    finally:
        await shared.close()


def finished(records: "StageStore", index: int) -> "Source | None":
    """Return the record of this index if the data set has it."""
    from tasks.sanitization.source import COLUMNS, Source

    for shard in records.manifest.shards():
        if shard.start <= index < shard.stop:
            rows = records.read_shard("records", shard, list(COLUMNS)).to_pylist()
            return next((Source.of_row(row) for row in rows if row["index"] == index), None)
    return None


def render_call(number: int, request: Request, reply: Reply) -> RenderableType:
    """Show one call: its turns, then the reply. All of it is text, whatever markup or control codes stand in it."""
    parts: list[RenderableType] = []
    for message in request.messages:
        parts += [Text(message.role, "bold dim"), Text(visible(message.content), "dim")]
    if reply.reasoning:
        parts += [Text("reasoning", "bold"), Text(visible(reply.reasoning), "italic")]
    parts += [Text("reply", "bold green"), Text(visible(reply.text))]
    again = "" if request.tags["attempt"] == "0" else f", asked again ({request.tags['attempt']})"
    spent = f"{reply.usage.prompt:,} tokens read, {reply.usage.completion:,} written, {reply.latency_s:.1f} s"
    cut = ", cut off at its limit" if reply.finish_reason == "length" else ""
    return Panel(
        Group(*parts),
        title=Text(f"{number}. {request.tags['step']}{again}"),
        subtitle=Text(visible(f"{reply.model}: {spent}{cut}")),
        title_align="left",
        subtitle_align="right",
    )


def render_outcome(outcome: Record | Reject) -> RenderableType:
    """Show what the calls of a record have come to."""
    if isinstance(outcome, Reject):
        return _render_reject(outcome)
    revisions = ", ".join(
        f"{step.step}: {step.verdict}, {'taken' if step.accepted else 'not taken'}" for step in outcome.refinement
    )
    return Group(render_record(outcome.row()), Text(f"revisions {revisions or 'none'}; {_spent(outcome.spent)}", "dim"))


def render_sanitized(outcome: "Triplet | Reject") -> RenderableType:
    """Show what a sanitization has come to: the two texts side by side, or why there are none."""
    from tasks.sanitization.terminal import render_triplet

    if isinstance(outcome, Reject):
        return _render_reject(outcome)
    return Group(render_triplet(outcome.row()), Text(_spent(outcome.spent), "dim"))


def _render_reject(reject: Reject) -> RenderableType:
    return Panel(
        Text(visible(reject.detail)),
        title=Text(f"{reject.outcome} at step {reject.step}: {reject.reason}"),
        subtitle=Text(_spent(reject.spent)),
        border_style="red",
    )


def _spent(spent: Spent) -> str:
    return f"{spent.calls} calls, {usd(spent.cost_usd)}"
