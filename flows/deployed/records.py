"""Deployments that make records and say what they are like."""

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from flows import synthesize as stage
from flows.artifacts.made import tell_made, tell_stage
from flows.artifacts.sample import tell_sample
from flows.artifacts.shards import tell_shards
from flows.commands.checks import check_models, check_settings, make_home
from flows.commands.datasets import open_finished
from flows.commands.run_of import run_of
from flows.deployed.asked import UNSAID, flags_of, held_root
from flows.deployed.parameters import (
    Budget,
    Dataset,
    Engine,
    First,
    HeldDataset,
    HeldRoot,
    InFlight,
    Language,
    Model,
    Records,
    RefinementSteps,
    Reprocess,
    Root,
    RunFile,
    Sample,
    Seed,
    Settings,
    Words,
    Workers,
)
from flows.deployed.running import carry_out
from flows.engines import planned_job
from flows.report import PAGE, summary_of, write_page
from infra.shards import files
from infra.shards.location import Location
from infra.shards.ranges import ShardRange
from tasks.synthesis.steps import synthesize_shard


@flow(name="synthesize", task_runner=stage.RUNNER)
def synthesize(
    dataset: Dataset = "records",
    records: Records = None,
    engine: Engine = UNSAID,
    model: Model = "",
    budget_usd: Budget = None,
    language: Language = "",
    words: Words = None,
    refinement_steps: RefinementSteps = None,
    seed: Seed = None,
    first: First = None,
    reprocess: Reprocess = "missing_and_failed",
    workers: Workers = None,
    in_flight: InFlight = None,
    sample: Sample = "masked",
    root: Root = "",
    run_file: RunFile = "",
    settings: Settings = [],  # noqa: B006 - Prefect reads it as the form's default, nobody writes to it
) -> stage.SynthesisReport | State[Any]:
    """Make the records that are asked for and not there yet, as `privasis synthesize` does."""
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
    todo = stage.plan_run(run, reprocess).todo
    if todo:
        check_models(run)
        make_home(run.root / run.dataset)
    store = planned_job(run).store()
    try:
        report = carry_out(lambda: stage.synthesize.fn(run, reprocess), [synthesize_shard], len(todo))
    finally:
        tell_shards(store, stage.plan_run(run, "missing"))
    if not isinstance(report, State):
        tell_stage(store, report, _page(store.layout.manifest.parents[1]))
        if report.receipts:
            tell_sample(store, "records", ShardRange.parse(report.receipts[-1].shard), sample)
    return report


def _page(folder: Location) -> dict[str, Location]:
    return {"report, as it was made last": folder / PAGE} if files.exists(folder / PAGE) else {}


@flow(name="report")
def report(dataset: HeldDataset = "records", root: HeldRoot = "") -> None:
    """Write a data set's page of figures, `report.html` in its folder, as `privasis report` does."""
    folder = held_root(root) / dataset
    store = open_finished(folder)
    summary = summary_of(store)
    page = write_page(store, dataset, summary)
    figures = {"records": f"{summary.records:,}", "rejected": f"{summary.rejects:,}"}
    tell_made(f"{dataset}: report", figures, {"page": page.resolve()})
