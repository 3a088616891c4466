"""``privasis surprise route``: rewrite only what a score selects, and say what that leaves and costs."""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from flows.budget import BudgetSpent
from flows.commands.checks import check_models
from flows.commands.errors import EXPECTED
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.surprise.methods import Surroundings, method_of
from flows.commands.surprise.opening import check_output, open_first
from flows.commands.whole import print_whole
from flows.commands.wording import counted
from flows.config import ConfigError, RunConfig
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards import files
from infra.shards.location import Location
from tasks.records import ROUTED
from tasks.report.formats import NOTHING, count, fixed, percent
from tasks.report.marks import visible
from tasks.surprise.baselines.methods import Material
from tasks.surprise.evaluation.material import conditioning_of
from tasks.surprise.evaluation.notation import Misspelled, Reading
from tasks.surprise.pictures.routing import tradeoff
from tasks.surprise.policy import Conditioning
from tasks.surprise.routing.config import RoutingConfig
from tasks.surprise.routing.ranking import Ranked, at_random, by_method, by_scores, least
from tasks.surprise.routing.results import Outcome, outcomes
from tasks.surprise.scored import ScoredSet, ScoresUnfit
from tasks.surprise.store.steps import read_shards

if TYPE_CHECKING:
    from tasks.surprise.routing.steps import RouteJob

SEED = 1
_BUDGETS = "shares of the sentences, above 0 and at most 1, such as .1,.2,.8"
_READINGS: dict[str, Reading] = {"surprise": "plain", "prompted": "prompted", "contrast": "contrast"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What is to be routed, and how, as the command line says it."""

    select: str
    budgets: tuple[float, ...]
    model: str
    judge: str | None
    whole: bool
    private: str | None
    selector_usd: float
    budget_usd: float | None
    workers: int
    in_flight: int


def budgets_of(text: str) -> tuple[float, ...]:
    """Read shares of the sentences, parted by commas.

    Raises:
        ConfigError: one is no share.
    """
    try:
        budgets = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise ConfigError(f"--budget {text}: {_BUDGETS}") from error
    if not all(0 < budget <= 1 for budget in budgets):
        raise ConfigError(f"--budget {text}: {_BUDGETS}")
    return budgets


def run(folder: Location, output: Location, asked: Asked, as_json: bool) -> None:
    """Route the scores in ``folder`` into the data set ``output``, and print what came of it.

    Raises:
        ConfigError: an option is wrong, or the scores lack what the selection reads.
        RunFailed: shards did not get done.
    """
    config, job = job_of(folder, output, asked)
    if planned := job.plan().todo:
        check_models(config)
        quiet_prefect()
        _route(config, job, len(planned))
    report(job, asked.selector_usd, as_json)


def _route(config: RunConfig, job: "RouteJob", shards: int) -> None:
    from flows.commands.failures import Failures
    from flows.surprise_route import route
    from tasks.surprise.routing.steps import route_shard

    failures = Failures()
    route_shard.on_failure(failures.note)
    sys.stderr.write(f"{counted(shards, 'shard')} to route; starting Prefect, Ray and the models\n")
    with prefect_api(settings().cache / "prefect") as ready:
        ready()
        try:
            route(config, job)
        except BudgetSpent:
            raise
        except EXPECTED as error:
            raise failures.told(shards) or error from error


def job_of(folder: Location, output: Location, asked: Asked) -> tuple[RunConfig, "RouteJob"]:
    """Rank the sentences, and say what was asked for as a run and a job.

    Raises:
        ConfigError: see ``run``.
    """
    from flows.surprise_route import planned_entry
    from tasks.surprise.routing.steps import RouteJob, ranks_store, write_ranks
    from tasks.surprise.store.steps import scores_store

    check_output(folder, output)
    home, target = folder.resolve(), output.resolve()
    first = open_first(folder)
    ranked = ranked_by(asked.select, home, first)
    config = run_of(
        RunFlags(
            model=[asked.model, *([asked.judge] if asked.judge else [])],
            workers=asked.workers,
            in_flight=asked.in_flight,
            budget=asked.budget_usd,
        )
    )
    entries = [planned_entry(engine) for engine in config.models]
    source, ranks = scores_store(home.parent, home.name), ranks_store(target.parent, target.name)
    routing = RoutingConfig(budgets=tuple(sorted(set(asked.budgets))), whole=asked.whole)
    if asked.private is not None:
        routing = routing.model_copy(update={"private": asked.private})
    job = RouteJob(
        scores_root=home.parent,
        scores=home.name,
        root=target.parent,
        dataset=target.name,
        select=asked.select,
        ranking=write_ranks(ranks, source, ranked),
        sentences=ranked.scores.size,
        reference=first.reference,
        config=routing,
        rewriter=entries[0],
        judge=entries[1] if asked.judge else None,
        in_flight=asked.in_flight,
    )
    return config, job


@dataclass(frozen=True, eq=False)
class _Shards:
    """All scores as what is ranked, one shard in memory at a time."""

    home: Location
    make: Callable[[ScoredSet], Material]

    def __iter__(self) -> Iterator[Material]:
        return (self.make(scored) for scored in read_shards(self.home.parent, self.home.name) if len(scored))


def ranked_by(select: str, home: Location, first: ScoredSet) -> Ranked:
    """Rank sentences by surprise, prompted surprise, contrast, chance, or a method of ``evaluate --method``.

    Args:
        select: the name.
        home: of the scores.
        first: a few of the documents, to see how all were scored.

    Raises:
        ConfigError: there is no such method, or no such scores.
    """
    try:
        if select in _READINGS:
            corpus = _Shards(home, partial(_material, conditioning_of(first, [_READINGS[select]])))
            floor = least(corpus)
            return Ranked.joined(by_scores(material, floor) for material in corpus)
        corpus = _Shards(home, partial(_material, first.conditionings[0]))
        if select == "random":
            return Ranked.joined(at_random(material, SEED) for material in corpus)
        # Of OPF, the graded score: its decoded labels have no order to spend a budget in.
        name = select.replace("opf", "opf-log-odds", 1) if select.split(":")[0] == "opf" else select
        method = method_of(name, Surroundings(corpus, plain="plain" in first.nll))
        return Ranked.joined(by_method(method, material) for material in corpus)
    except Misspelled as error:
        raise ConfigError(f"--select {select}: surprise, prompted, contrast, random, or: {error}") from error
    except ScoresUnfit as error:
        raise ConfigError(f"{home}: {error}") from error


def _material(conditioning: Conditioning, scored: ScoredSet) -> Material:
    return Material(scored.documents, scored.batch(conditioning))


def report(job: "RouteJob", selector_usd: float, as_json: bool) -> None:
    """Print the table, and write it and the picture beside the shards."""
    routed = job.store().read("routed", [name for name in ROUTED.names if name != "text"])
    if not routed.num_rows:
        raise ConfigError(f"{job.root / job.dataset}: nothing was routed")
    found = outcomes(routed, selector_usd)
    figures: dict[str, Any] = {
        "select": job.select,
        "sentences": job.sentences,
        "model": job.rewriter.endpoint.model,
        "judge": None if job.judge is None else job.judge.endpoint.model,
        "selector_usd_per_million": selector_usd,
        "interventions": [each.json() for each in found],
    }
    home = job.root / job.dataset
    files.put(home / "route-report.json", f"{json.dumps(figures, indent=2)}\n".encode())
    if any(each.security is not None for each in found):
        files.put(home / "route.png", tradeoff(found))
    if as_json:
        sys.stdout.write(f"{json.dumps(figures, indent=2)}\n")
        return
    console = Console()
    print_whole(console, _table(found))
    console.print(Text(f"\nTexts: {job.store().layout.tables['routed']}/*.parquet; figures: {home}"), soft_wrap=True)


def _table(found: Sequence[Outcome]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    headings = ("intervention", "sent", "failed", "private values gone", "BLEU", "facts kept", "USD / M source tokens")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place == 0 else "right")
    for each in found:
        table.add_row(
            Text(visible(each.name)),
            count(each.sent),
            count(each.failed),
            percent(each.security),
            fixed(each.bleu, 3),
            NOTHING if each.facts_kept is None else percent(each.facts_kept),
            f"{each.usd_per_million:,.2f}",
        )
    return table
