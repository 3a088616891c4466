"""How ``privasis status`` looks: one panel a run, and a line for each stage of the data set."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from flows.commands.wording import counted, duration
from flows.status_file import Life
from infra.histogram import SECONDS
from infra.run_state import RunState, StepState, Waits, sum_waits
from infra.shards.location import Location
from tasks.report.formats import NOTHING, count, fixed, percent, usd
from tasks.report.marks import visible

STILL_S = 30.0  # without a row or an answer, before we say so
OLD_S = 120.0  # a call that has waited so long may hang
MOST_WORKERS = 16
MOST_STEPS = 8
_STYLES: dict[Life, str] = {"runs": "green", "ended": "cyan", "died": "bold red", "silent": "yellow"}
_WAIT_STYLES: dict[Waits, str] = {
    "engine": "green",
    "batch": "green",
    "embedding": "green",
    "pool": "yellow",
    "engine queue": "yellow",
    "rate limit": "yellow",
    "next try": "yellow",
    "server down": "bold red",
    "another attempt": "red",
    "lease": "magenta",
    "budget": "bold red",
}
_ADVICE: dict[Waits, str] = {
    "engine": "the model is what takes the time: more replicas, a faster model or fewer tokens; if calls open are far"
    " below the places, raise in_flight",
    "batch": "a provider answers within a day; the run may be stopped, and takes its batches up when it comes back",
    "engine queue": "the server takes no more calls at once: raise max_in_flight if it can, or add replicas",
    "rate limit": "the account's quota is what holds it: ask for a higher one, or add a model to the mix",
    "server down": "a server answers nobody; it is tried again and again: look at the server",
    "next try": "most calls are between tries: see the failed tries below",
    "embedding": "embedding takes the time: give the run another embedder",
    "pool": "the keeper of the diversity pool is behind: lower refinement.pool_size",
    "start": "the shards have only begun: leases, journals, models",
    "disk": "finished shards are being written: a slow disk, if it stays so",
    "lease": "other processes have these shards: they are tried again later",
    "worker": "more workers would help only if the servers have places left",
    "another attempt": "shards have failed and are tried again later: the run's own terminal says why",
    "budget": "the budget is spent: raise it (--budget) and give the same command again",
}


def run_view(state: RunState, life: Life, now: datetime) -> RenderableType:
    """Lay out one run: what it has made, what it waits for, what it is slow at."""
    parts: list[RenderableType] = [_progress(state), _figures(state)]
    if life == "died":
        parts.append(Text("Its process is gone: the same command goes on where it stood.", style="bold red"))
    if life in ("runs", "silent"):
        parts += [_why(state), _workers(state), _servers(state)]
    parts += [_failures(state), _steps(state)]
    title = Text.assemble(
        f" {visible(state.dataset)} · {visible(state.stage)} · ", (_life(state, life, now), _STYLES[life]), " "
    )
    return Panel(Group(*parts), title=title, title_align="left", border_style=_STYLES[life], padding=(0, 1))


def stages_view(folder: Location, stages: Sequence[Mapping[str, Any]], was_run: bool) -> RenderableType:
    """Lay out what is there of the data set, and say what is to be known of a run if there was none."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for heading in ("stage", "shards", "rows", "wanted", "begun"):
        table.add_column(heading, justify="left" if heading == "stage" else "right")
    for stage in stages:
        begun = Text(count(stage["begun"]), style="cyan" if stage["begun"] else "dim")
        table.add_row(
            visible(stage["name"]), count(stage["shards"]), count(stage["rows"]), count(stage["wanted"]), begun
        )
    lines: list[RenderableType] = [] if was_run else [Text("No run of it has said how it is.")]
    return Group(*lines, Text(f"In {folder}:"), table)


def _life(state: RunState, life: Life, now: datetime) -> str:
    took = duration((state.written_at - state.began_at).total_seconds() / 3600)
    ago = duration(max(0.0, (now - state.written_at).total_seconds()) / 3600)
    match life:
        case "runs":
            return f"{'is stopping after' if state.stopping else 'has run for'} {took}, {state.owner}"
        case "ended":
            how = f"stopped ({state.ended_with})" if state.ended_with else "ended"
            return f"{how} {ago} ago, after {took}"
        case "died":
            return f"killed about {ago} ago, after {took}"
        case "silent":
            return f"has said nothing for {ago}, {state.owner}"


def _progress(state: RunState) -> RenderableType:
    grid = Table.grid(padding=(0, 1))
    grid.add_column(width=8)
    grid.add_column(ratio=1)
    grid.add_column(justify="right")
    grid.expand = True
    share = state.finished / state.rows if state.rows else 1.0
    bar = ProgressBar(total=max(1, state.rows), completed=state.finished)
    grid.add_row("rows", bar, f"{state.finished:,} of {state.rows:,}, {percent(share)}")
    return grid


def _figures(state: RunState) -> RenderableType:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim")
    grid.add_column()
    rejected = ", ".join(f"{visible(name)} {number:,}" for name, number in state.done.items())
    grid.add_row("done", Text(rejected or NOTHING))
    shards = state.shards
    by_state = f"{shards.committed:,} committed, {shards.running:,} in work, {shards.waiting:,} to be begun"
    grid.add_row("shards", by_state + (f", {shards.held:,} of another process" if shards.held else ""))
    if state.ended_at is None:
        rates = state.rates
        per_minute = f"{fixed(rates.rows * 60)} rows a minute, {fixed(rates.calls)} calls a second, "
        tokens = f"{count(rates.prompt_tokens)} tokens read and {count(rates.completion_tokens)} written a second"
        grid.add_row("rate", Text(per_minute + tokens))
        grid.add_row("to go", duration(state.eta_s / 3600) if state.eta_s is not None else NOTHING)
    money = usd(state.money.spent_usd)
    if state.money.projected_usd is not None:
        money += f" of about {usd(state.money.projected_usd)}"
    too_dear = False
    if state.money.limit_usd is not None:
        money += f", budget {usd(state.money.limit_usd)}"
        too_dear = (state.money.projected_usd or 0.0) > state.money.limit_usd
    grid.add_row("cost", Text(money, style="yellow" if too_dear else ""))
    if state.ended_at is None:
        grid.add_row("metrics", Text(visible(state.metrics_url)))
    return grid


def _why(state: RunState) -> RenderableType:
    """Name what most of it waits for, and what can be done about that."""
    waits = sum_waits(worker.waits for worker in state.workers) or dict(state.shard_waits)
    total = sum(waits.values())
    if not total:
        return Text("\nnothing waits", style="dim")
    reason = max(waits, key=lambda each: waits[each])
    line = Text.assemble("\n", (f"{waits[reason]:,} of {total:,} wait for: {reason}", "bold"), f": {_ADVICE[reason]}")
    if state.still_s > STILL_S:
        line.append(f"\nIt stands: no row, no answer for {duration(state.still_s / 3600)}.", style="bold red")
    if state.shard_waits:
        line.append_text(Text.assemble("\nshards that no worker has: ", _waits(state.shard_waits)))
    return line


def _waits(waits: Mapping[Waits, int]) -> Text:
    by_count = sorted(waits.items(), key=lambda each: -each[1])
    parts = [Text(f"{reason} {number:,}", style=_WAIT_STYLES.get(reason, "")) for reason, number in by_count]
    return Text(", ").join(parts)


def _workers(state: RunState) -> RenderableType:
    table = _table("worker", "process", "shards", "oldest call", "waits for", right=(3,))
    for worker in state.workers[:MOST_WORKERS]:
        place = f"{worker.pid} on {visible(worker.host)}" if worker.pid else NOTHING
        waits = _waits(worker.waits) if worker.answers else Text("does not answer", style="bold red")
        oldest = Text(f"{worker.oldest_s:,.0f} s", style="red" if worker.oldest_s > OLD_S else "")
        table.add_row(str(worker.index), place, ", ".join(worker.shards) or NOTHING, oldest, waits)
    if len(state.workers) > MOST_WORKERS:
        rest = state.workers[MOST_WORKERS:]
        table.add_row("…", counted(len(rest), "more"), "", "", _waits(sum_waits(worker.waits for worker in rest)))
    return table


def _servers(state: RunState) -> RenderableType:
    table = _table("server", "open", "places", "queued", "they wait for", right=(1, 2, 3))
    for server in state.servers:
        why = Text(visible(server.waits_for)) if server.waiting else Text(NOTHING, style="dim")
        table.add_row(Text(visible(server.server)), count(server.open), count(server.width), count(server.waiting), why)
    return table if state.servers else Text("")


def _failures(state: RunState) -> RenderableType:
    lines: list[RenderableType] = []
    for model, kinds in state.failures.items():
        listed = ", ".join(f"{visible(kind)} {number:,}" for kind, number in sorted(kinds.items(), key=lambda k: -k[1]))
        lines.append(Text(f"failed tries of {visible(model)}: {listed}", style="yellow"))
    return Group(*lines)


def _steps(state: RunState) -> RenderableType:
    if not state.steps:
        return Text("")
    table = _table(
        "slowest\nsteps",
        "model",
        "calls",
        "time",
        "median\ns",
        "95 %\ns",
        "waiting",
        "read",
        "written",
        right=range(2, 9),
    )
    for cells in _step_rows(state.steps):
        table.add_row(*cells)
    return table


def _step_rows(steps: Sequence[StepState]) -> Iterator[tuple[str, ...]]:
    whole = sum(step.seconds.total for step in steps) or 1.0
    for step in sorted(steps, key=lambda each: -each.seconds.total)[:MOST_STEPS]:
        seconds = step.seconds
        waiting = max(0.0, 1 - step.answering.total / seconds.total) if seconds.total else 0.0
        yield (
            visible(step.step),
            visible(step.model),
            count(seconds.count),
            percent(seconds.total / whole),
            fixed(seconds.quantile(0.5, SECONDS), 2),
            fixed(seconds.quantile(0.95, SECONDS), 2),
            percent(waiting),
            count(step.prompt.mean),
            count(step.completion.mean),
        )


def _table(*headings: str, right: Sequence[int] = ()) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for place, heading in enumerate(headings):
        figures = place in right
        table.add_column(heading, justify="right" if figures else "left", overflow="fold", no_wrap=figures)
    return table
