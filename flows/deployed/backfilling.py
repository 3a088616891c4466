"""The deployment that makes what several stages of a data set lack."""

from datetime import UTC, datetime
from typing import Annotated, Any, Literal

from prefect import Task, flow
from prefect.client.schemas.objects import State
from pydantic import Field

from flows import backfill as stage
from flows.artifacts.made import figures_of, tell_made
from flows.artifacts.outlook import tell_outlook
from flows.artifacts.shards import tell_cost
from flows.commands.backfill import REACHED, asked_of, rows_of
from flows.commands.checks import check_models, check_settings
from flows.commands.errors import Code, RunFailed
from flows.commands.run_of import run_of
from flows.commands.wording import counted
from flows.config import ConfigError, RunConfig
from flows.deployed.asked import UNSAID, flags_of
from flows.deployed.parameters import (
    Budget,
    Dataset,
    Engine,
    Evaluator,
    First,
    InFlight,
    Language,
    Model,
    Records,
    RefinementSteps,
    Reprocess,
    Root,
    RunFile,
    Says,
    Seed,
    Settings,
    Words,
    Workers,
)
from flows.deployed.running import carry_out
from flows.evaluate import Asked
from tasks.evaluation.steps import evaluate_shard
from tasks.sanitization.steps import sanitize_shard
from tasks.synthesis.steps import synthesize_shard

Stages = Annotated[
    Literal[
        "records",
        "triplets",
        "records,triplets",
        "triplets,splits",
        "records,triplets,splits",
        "evaluation",
        "records,triplets,splits,evaluation",
    ],
    Says("Which stages, each after those it reads."),
]
Shards = Annotated[str, Field(pattern=r"^(\d+:\d+)?$"), Says("Shards A to B, B not included, such as 3:5. Empty: all.")]
Name = Annotated[str, Field(pattern=r"^part-\d{8,}-\d{8,}$")]
Names = Annotated[list[Name], Says("Only shards of these names, such as part-00000000-00000512. Empty: all.")]
OnlyState = Annotated[
    Literal["any", "missing", "open", "failed", "stale", "committed"], Says("Only shards in this state.")
]
Reason = Annotated[str, Says("Only shards whose failure, or reason of being stale, says this. Empty: all.")]
MadeBefore = Annotated[
    datetime | None, Says("Only shards that were not committed since, in UTC: with reprocess all. None: all.")
]
WhichFirst = Annotated[stage.Order, Says("What comes first.")]
AtOnce = Annotated[int | None, Field(ge=1, le=10_000), Says("Shards worked on at once. None: as in the run file.")]
Most = Annotated[
    int | None, Field(ge=1, le=1_000_000), Says("Shards in this run, of all stages together; the rest stays.")
]
DryRun = Annotated[bool, Says("Say on the run's page what it would do and cost, and do nothing.")]
Judged = Annotated[str, Field(min_length=1), Says("Of the stage evaluation: what is judged, as of evaluate-cleaner.")]


@flow(name="backfill")
def backfill(
    dataset: Dataset = "records",
    stages: Stages = "records,triplets",
    reprocess: Reprocess = "missing_and_failed",
    shards: Shards = "",
    names: Names = [],  # noqa: B006 - Prefect reads them as the form's defaults, nobody writes to them
    state: OnlyState = "any",
    reason: Reason = "",
    made_before: MadeBefore = None,
    order: WhichFirst = "begun_first",
    at_once: AtOnce = None,
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
    sanitizer: Judged = "triplets",
    evaluator: Evaluator = "",
    root: Root = "",
    run_file: RunFile = "",
    settings: Settings = [],  # noqa: B006
) -> stage.BackfillReport | State[Any] | None:
    """Make what stages lack, or make it again, in the order of their lineage, as `privasis backfill` does."""
    if state != "any" and state not in REACHED[reprocess]:
        least = next(each for each, reached in REACHED.items() if state in reached)
        raise ConfigError(f"state {state}: reprocess {reprocess} makes no such shard; {least} does")
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
        judge = asked_of(flags, run, sanitizer, evaluator or None) if "evaluation" in stages else None
    check_settings(run)
    selection = stage.Selection.model_validate(
        {
            "stages": stages.split(","),
            "reprocess": reprocess,
            "rows": rows_of(shards or None, run),
            "names": names,
            "states": [] if state == "any" else [state],
            "reason": reason,
            "made_before": made_before
            if made_before is None or made_before.tzinfo
            else made_before.replace(tzinfo=UTC),
            "order": order,
            "at_once": at_once,
            "most": most,
        }
    )
    chosen = chosen_of(run, selection, judge)
    tell_outlook(run, chosen, dry=dry_run)
    wanted = sum(len(each.shards) for each in chosen)
    if not wanted and (held := sum(each.held for each in chosen)):
        raise RunFailed(f"other processes are making {counted(held, 'shard')}: wait for them", Code.OUTSIDE)
    if dry_run or not wanted:
        return None
    check_models(run)
    makers: list[Task[..., Any]] = [synthesize_shard, sanitize_shard, evaluate_shard]
    report = carry_out(lambda: stage.backfill.fn(run, selection, judge), makers, wanted)
    if not isinstance(report, State):
        tell_report(run, report)
    return report


def chosen_of(run: RunConfig, selection: stage.Selection, judge: Asked | None) -> list[stage.Chosen]:
    """Say which shards of each stage are to be made, as things stand now; reads only."""
    left, chosen = selection.most, []
    for each in stage.stages_of(run, selection, judge):
        chosen.append(stage.choose(each, selection, left))
        left = None if left is None else left - len(chosen[-1].shards)
    return chosen


def tell_report(run: RunConfig, report: stage.BackfillReport) -> None:
    """Write what was made, what is left, and what the data set has cost."""
    folder = run.root / run.dataset
    figures = figures_of([each for done in report.stages for each in done.receipts], 0)
    figures["shards made"] = f"{report.made:,}"  # of splits, too, which have no receipts
    del figures["shards there before"]
    tell_made(
        f"{run.dataset}: backfill", figures | {"shards left for another run": f"{report.rest:,}"}, {"data": folder}
    )
    tell_cost(folder)
