"""The deployment that makes what several stages of a data set lack."""

from datetime import datetime
from typing import Annotated, Any, Literal

from prefect import flow
from prefect.client.schemas.objects import State
from pydantic import Field

from flows.backfill import Order
from flows.commands import backfill as command
from flows.deployed.asked import UNSAID, flags_of
from flows.deployed.parameters import (
    Budget,
    Dataset,
    Engine,
    Evaluator,
    InFlight,
    Model,
    Records,
    Reprocess,
    Root,
    RunFile,
    Says,
    Settings,
    Workers,
)
from flows.deployed.running import in_order

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
Names = Annotated[list[str], Says("Only shards of these names, such as part-00000000-00000512. Empty: all.")]
OnlyState = Annotated[
    Literal["any", "missing", "open", "failed", "stale", "committed"], Says("Only shards in this state.")
]
Reason = Annotated[str, Says("Only shards whose failure, or reason of being stale, says this. Empty: all.")]
MadeBefore = Annotated[
    datetime | None, Says("Only shards that were not committed since: with reprocess all. None: whenever they were.")
]
WhichFirst = Annotated[Order, Says("What comes first.")]
AtOnce = Annotated[int | None, Field(ge=1, le=10_000), Says("Shards worked on at once. None: as in the run file.")]
Most = Annotated[
    int | None, Field(ge=1, le=1_000_000), Says("Shards in this run, of all stages together; the rest stays.")
]
DryRun = Annotated[bool, Says("Say in the log what it would do and cost, and do nothing.")]
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
    workers: Workers = None,
    in_flight: InFlight = None,
    sanitizer: Judged = "triplets",
    evaluator: Evaluator = "",
    root: Root = "",
    run_file: RunFile = "",
    settings: Settings = [],  # noqa: B006
) -> State[Any] | None:
    """Make what stages lack, or make it again, in the order of their lineage, as `privasis backfill` does."""
    said = {
        "reprocess": reprocess,
        "names": tuple(names),
        "states": () if state == "any" else (state,),
        "reason": reason,
        "made_before": made_before,
        "order": order,
        "at_once": at_once,
        "most": most,
    }
    judge = (sanitizer, evaluator or None)
    with flags_of(
        run_file,
        settings,
        engine=engine,
        model=model,
        dataset=dataset,
        root=root,
        records=records,
        workers=workers,
        in_flight=in_flight,
        budget=budget_usd,
    ) as flags:
        return in_order(lambda: command.run_selected(flags, stages, shards or None, said, judge, dry=dry_run))
