"""``privasis preview``: a few records made before the reader's eyes, every prompt and reply shown, nothing written."""

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
from tasks.synthesis.outcome import Record, Reject

if TYPE_CHECKING:
    from tasks.synthesis.steps import SynthesisJob


def run(flags: RunFlags, records: int) -> None:
    """Make ``records`` records in this process and show how.

    Raises:
        ConfigError: the run is described wrongly.
        BackendUnavailable: a model does not answer.
    """
    config = run_of(flags)
    check_settings(config)
    check_models(config)
    quiet_prefect()
    from flows.engines import engines, job_of

    console = Console()
    with engines(config) as served:
        asyncio.run(_preview(job_of(config, served), range(config.first, config.first + records), console))


async def _preview(job: "SynthesisJob", indices: range, console: Console) -> None:
    from tasks.synthesis.steps import chain_of, reservoir

    number = itertools.count(1)

    def show(request: Request, reply: Reply) -> None:
        console.print(render_call(next(number), request, reply))

    shared = Shared()
    context = WorkerContext(LocalKeeper(reservoir(job.root, job.dataset, job.seed)), _shared=shared)
    try:
        chain = await chain_of(job, context, MemoryLog(), show)
        for index in indices:
            console.print(Rule(Text(f"record {index}", "bold")))
            console.print(render_outcome(await chain.run(index)))
    finally:
        await shared.close()


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
    spent = f"{outcome.spent.calls} calls, {usd(outcome.spent.cost_usd)}"
    if isinstance(outcome, Reject):
        return Panel(
            Text(visible(outcome.detail)),
            title=Text(f"{outcome.outcome} at step {outcome.step}: {outcome.reason}"),
            subtitle=Text(spent),
            border_style="red",
        )
    revisions = ", ".join(
        f"{step.step}: {step.verdict}, {'taken' if step.accepted else 'not taken'}" for step in outcome.refinement
    )
    return Group(render_record(outcome.row()), Text(f"revisions {revisions or 'none'}; {spent}", "dim"))
