"""The deployment that asks rejected rows of a data set again, them alone."""

from typing import Annotated, Any, Literal

from prefect import flow
from prefect.client.schemas.objects import State
from pydantic import Field

from flows import retry as stage
from flows.artifacts.made import figures_of, tell_made
from flows.artifacts.shards import tell_cost
from flows.commands.checks import check_models, check_settings
from flows.commands.quarantine import wanted
from flows.commands.run_of import run_of
from flows.deployed.asked import UNSAID, flags_of
from flows.deployed.parameters import (
    Budget,
    Dataset,
    Engine,
    First,
    InFlight,
    Language,
    Model,
    Records,
    RefinementSteps,
    Root,
    RunFile,
    Says,
    Seed,
    Settings,
    Words,
    Workers,
)
from flows.deployed.running import carry_out
from flows.synthesize import RUNNER
from tasks.shards.retrying.steps import retry_shard

Whose = Annotated[Literal["records", "triplets"], Says("Whose rejected rows.")]
Reasons = Annotated[
    list[str], Says("Only rows rejected for these reasons, as `privasis quarantine count` names them. Empty: all.")
]
Steps = Annotated[list[str], Says("Only rows rejected at these steps, such as draft or spans. Empty: all.")]
Ids = Annotated[list[str], Says("Only these rows, by record_id. Empty: all.")]
Filtered = Annotated[bool, Says("Also rows whose text was no record of anybody; else only those in quarantine.")]
Most = Annotated[int | None, Field(ge=1, le=1_000_000), Says("Shards in this run; the rest stays. None: all.")]
DryRun = Annotated[bool, Says("Say on the run's page how many rows it would ask, and do nothing.")]


@flow(name="retry", task_runner=RUNNER)
def retry(
    dataset: Dataset = "records",
    rows_of: Whose = "records",
    reasons: Reasons = [],  # noqa: B006 - Prefect reads them as the form's defaults, nobody writes to them
    steps: Steps = [],  # noqa: B006
    ids: Ids = [],  # noqa: B006
    filtered: Filtered = False,
    most: Most = None,
    dry_run: DryRun = False,
    records: Records = None,
    engine: Engine = UNSAID,
    model: Model = "",
    budget_usd: Budget = None,
    language: Language = "",
    words: Words = None,
    refinement_steps: RefinementSteps = None,
    seed: Seed = None,
    first: First = None,
    workers: Workers = None,
    in_flight: InFlight = None,
    root: Root = "",
    run_file: RunFile = "",
    settings: Settings = [],  # noqa: B006
) -> stage.RetryReport | State[Any] | None:
    """Ask rejected rows again and keep what passes now, as `privasis quarantine retry` does."""
    with flags_of(
        run_file,
        settings,
        engine=engine,
        model=model,
        dataset=dataset,
        root=root,
        records=records,
        first=first,
        seed=seed,
        language=language,
        words=words,
        refinement_steps=refinement_steps,
        workers=workers,
        in_flight=in_flight,
        budget=budget_usd,
    ) as flags:
        run = run_of(flags)
    check_settings(run)
    asked = wanted(reasons, steps, ids, filtered=filtered)
    planned = stage.plan_retry(run, rows_of, asked, most)
    title, folder = f"{run.dataset}: retry of {rows_of}", run.root / run.dataset
    if dry_run or not planned.rows:
        tell_made(title, planned_figures(planned), {"data": folder})
        return None
    check_models(run)
    report = carry_out(lambda: stage.retry.fn(run, rows_of, asked, most), [retry_shard], len(planned.rows))
    if not isinstance(report, State):
        figures = {"rows asked again": f"{report.asked:,}", "of these kept now": f"{report.passed:,}"}
        tell_made(title, figures | made_figures(report, planned), {"data": folder})
        tell_cost(folder)
    return report


def planned_figures(planned: stage.RetryPlan) -> dict[str, str]:
    """Say how many rows can be asked again, and how many shards have to be made again as a whole before."""
    return {
        "rows that can be asked again": f"{sum(planned.rows.values()):,}",
        "in shards": f"{len(planned.rows):,}",
        "shards to be made again before, by the backfill with reprocess stale": f"{len(planned.stale):,}",
    }


def made_figures(report: stage.RetryReport, planned: stage.RetryPlan) -> dict[str, str]:
    """Say what it took; rows of a shard that were not asked again are not counted."""
    took = figures_of([each.shard for each in report.receipts], 0)
    kept = ("calls", "failed tries", "tokens", "cost")
    stale = {"shards that are stale and were left": f"{len(planned.stale):,}"} if planned.stale else {}
    return {name: took[name] for name in kept} | stale
