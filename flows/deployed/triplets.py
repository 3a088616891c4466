"""Deployments that sanitize records, split the triplets and export them."""

from typing import Annotated, Any

from prefect import flow
from prefect.client.schemas.objects import State
from pydantic import Field

from flows import sanitize as stage
from flows.artifacts.made import tell_made, tell_stage
from flows.artifacts.sample import tell_sample
from flows.artifacts.shards import tell_shards
from flows.commands import export as export_command
from flows.commands import split as split_command
from flows.commands.checks import check_models
from flows.commands.run_of import run_of
from flows.commands.sanitize import write_page
from flows.deployed.asked import UNSAID, flags_of, held_root, here
from flows.deployed.parameters import (
    SAFE,
    Budget,
    Dataset,
    Engine,
    HeldDataset,
    HeldRoot,
    InFlight,
    Model,
    Reprocess,
    Root,
    RunFile,
    Sample,
    Says,
    Seed,
    Settings,
    Workers,
)
from flows.deployed.running import carry_out, expect_some
from flows.synthesize import RUNNER
from infra.shards.ranges import ShardRange
from tasks.sanitization.steps import sanitize_shard

ChunkCharacters = Annotated[
    int | None, Field(ge=64, le=100_000), Says("Most characters of a chunk. None: as in the run file, else 512.")
]
TestShare = Annotated[
    float | None, Field(ge=0, lt=1), Says("Share of the triplets for the tests. None: as in the run file.")
]
ValidationShare = Annotated[
    float | None, Field(ge=0, lt=1), Says("Share of the triplets for validation. None: as in the run file.")
]
SplitSeed = Annotated[
    int | None, Field(ge=0, lt=SAFE), Says("Another seed is another split. None: as in the run file.")
]
Evaluation = Annotated[
    str,
    Says(
        "Which evaluation of the pipeline's own texts tells the vanilla from the hard test. Empty: the only one there"
        " is; before there is one, the test stays in one piece."
    ),
]
ExportFolder = Annotated[str, Says("Where to. Empty: the folder export in the data set's own.")]
HubRepository = Annotated[str, Says("Upload it to this repository of the hub (name/name), too. Empty: do not.")]
Public = Annotated[bool, Says("Let everybody see that repository.")]


@flow(name="sanitize", task_runner=RUNNER)
def sanitize(
    dataset: Dataset = "records",
    engine: Engine = UNSAID,
    model: Model = "",
    budget_usd: Budget = None,
    chunk_characters: ChunkCharacters = None,
    reprocess: Reprocess = "missing_and_failed",
    workers: Workers = None,
    in_flight: InFlight = None,
    seed: Seed = None,
    sample: Sample = "masked",
    root: Root = "",
    run_file: RunFile = "",
    settings: Settings = [],  # noqa: B006 - Prefect reads it as the form's default, nobody writes to it
) -> stage.SanitizationReport | State[Any]:
    """Make triplets of all finished records that have none yet, as `privasis sanitize` does."""
    if chunk_characters is not None:
        settings = [*settings, f"sanitization.chunk_characters={chunk_characters}"]
    with flags_of(
        run_file,
        settings,
        engine=engine,
        model=model,
        dataset=dataset,
        root=root,
        seed=seed,
        workers=workers,
        in_flight=in_flight,
        budget=budget_usd,
    ) as flags:
        run = run_of(flags)
    planned = stage.plan_sanitization(run, reprocess)
    expect_some(
        len(planned.shards), f"{run.root / run.dataset}: no finished records to sanitize: run the deployment synthesize"
    )
    if planned.todo:
        check_models(run)
    store = stage.planned_sanitization(run).store()
    try:
        report = carry_out(lambda: stage.sanitize.fn(run, reprocess), [sanitize_shard], len(planned.todo))
    finally:
        tell_shards(store, stage.plan_sanitization(run, "missing"))
    if not isinstance(report, State):
        tell_stage(store, report, {"a few of them, side by side": write_page(store, run.dataset)})
        if report.receipts:
            tell_sample(store, "triplets", ShardRange.parse(report.receipts[-1].shard), sample)
    return report


@flow(name="split")
def split(
    dataset: Dataset = "records",
    test: TestShare = None,
    validation: ValidationShare = None,
    seed: SplitSeed = None,
    evaluation: Evaluation = "",
    root: Root = "",
    run_file: RunFile = "",
) -> None:
    """Decide which triplets are for training, validation and the tests, as `privasis split` does."""
    with flags_of(run_file, dataset=dataset, root=root) as flags:
        split_command.run(flags, test, validation, seed, evaluation or None)
        run = run_of(flags)
    tell_made(f"{run.dataset}: splits", {}, {"splits": (run.root / run.dataset / "splits").resolve()})


@flow(name="export")
def export(
    dataset: HeldDataset = "records",
    root: HeldRoot = "",
    folder: ExportFolder = "",
    hub_repository: HubRepository = "",
    public: Public = False,
) -> None:
    """Write chats to train on, and a data card, as `privasis export` does."""
    home = held_root(root) / dataset
    export_command.run(home, here(folder) if folder else None, hub_repository or None, public)
    to = here(folder) if folder else home / export_command.FOLDER
    tell_made(f"{dataset}: export", {}, {"chats and data card": to.resolve()})
