"""Deployments that judge sanitizers."""

from typing import Annotated, Any

from prefect import flow
from prefect.client.schemas.objects import State
from pydantic import Field

from flows import evaluate as stage
from flows.artifacts.made import tell_made, tell_stage
from flows.artifacts.shards import tell_shards
from flows.commands.checks import check_models
from flows.commands.evaluate import nap2 as nap2_command
from flows.commands.evaluate.asked import model_named, sanitizer_named
from flows.commands.evaluate.cleaner import check_job, is_split
from flows.commands.run_of import run_of
from flows.commands.study import chunk_size as chunk_size_command
from flows.deployed.asked import flags_of, here
from flows.deployed.parameters import (
    Budget,
    Dataset,
    Evaluator,
    InFlight,
    Reprocess,
    Root,
    RunFile,
    Says,
    Settings,
    Workers,
)
from flows.deployed.running import carry_out
from flows.evaluation_report import write_report
from flows.synthesize import RUNNER
from tasks.evaluation.steps import evaluate_shard
from tasks.report.formats import percent
from tasks.sanitization.steps import sanitize_shard

Sanitizer = Annotated[
    str,
    Field(min_length=1),
    Says(
        "What is judged: triplets (what the pipeline made), untouched, empty, masked, presidio, a .parquet or .jsonl"
        " file on the worker, the address of a `privasis serve`, or model:MODEL."
    ),
]
SecondEvaluator = Annotated[str, Says("Asked which guess is closer, too; named as the evaluator is. Empty: nobody.")]
Everything = Annotated[bool, Says("Judge all triplets, not only those that a split has set aside for a test.")]
Nap2File = Annotated[str, Field(min_length=1), Says("Rewrites of NaP2, on the worker: .csv, .jsonl or .parquet.")]
Nap2Columns = Annotated[str, Says("original=NAME,sanitized=NAME,sensitive=NAME, where they are not called just that.")]
ChunkSizes = Annotated[
    str, Field(pattern=r"^\d+(\s*,\s*\d+)*$"), Says("Most characters of a chunk, numbers apart by commas.")
]
SanitizedBy = Annotated[str, Says("Model that sanitizes. Empty: all models of the run file.")]


@flow(name="evaluate-cleaner", task_runner=RUNNER)
def evaluate_cleaner(
    dataset: Dataset = "records",
    sanitizer: Sanitizer = "triplets",
    evaluator: Evaluator = "",
    second_evaluator: SecondEvaluator = "",
    everything: Everything = False,
    budget_usd: Budget = None,
    reprocess: Reprocess = "stale",
    workers: Workers = None,
    in_flight: InFlight = None,
    root: Root = "",
    run_file: RunFile = "",
    settings: Settings = [],  # noqa: B006 - Prefect reads it as the form's default, nobody writes to it
) -> stage.EvaluationReport | State[Any]:
    """Judge what a sanitizer leaks and keeps, as `privasis evaluate cleaner` does."""
    with flags_of(
        run_file, settings, dataset=dataset, root=root, workers=workers, in_flight=in_flight, budget=budget_usd
    ) as flags:
        run = run_of(flags)
        asked = stage.Asked(
            sanitizer=sanitizer_named(run, flags, sanitizer),
            evaluator=model_named(run, flags, evaluator or None, "evaluator"),
            second=model_named(run, flags, second_evaluator, "second_evaluator") if second_evaluator else None,
            only_tests=not everything and is_split(run),
        )
    job = stage.planned_evaluation(run, asked)
    check_job(run, job)
    todo = stage.plan_evaluation(job, reprocess).todo
    if todo:
        check_models(asked.serving(run))
    try:
        report = carry_out(lambda: stage.evaluate.fn(run, asked, reprocess), [evaluate_shard], len(todo))
    finally:
        tell_shards(job.store(), stage.plan_evaluation(job, "missing"))
    if not isinstance(report, State):
        written = write_report(job)
        tell_stage(job.store(), report, {"page": written.html, "figures": written.json})
    return report


@flow(name="evaluate-nap2")
def evaluate_nap2(
    file: Nap2File,
    columns: Nap2Columns = "",
    evaluator: Evaluator = "",
    in_flight: InFlight = None,
    root: Root = "",
    run_file: RunFile = "",
    settings: Settings = [],  # noqa: B006 - Prefect reads it as the form's default, nobody writes to it
) -> None:
    """Score rewrites of NaP2, as `privasis evaluate nap2` does."""
    with flags_of(run_file, settings, root=root, in_flight=in_flight) as flags:
        ratio = nap2_command.run(flags, here(file), columns or None, evaluator or None, as_json=False)
    figures = {
        "leak ratio": percent(ratio.ratio.value),
        "95 %": f"{percent(ratio.ratio.low)} to {percent(ratio.ratio.high)}",
        "leaks": f"{ratio.leaks:,}",
        "judged": f"{ratio.ratio.of:,}",
        "not judged": f"{ratio.unjudged:,}",
    }
    tell_made(f"NaP2: {here(file).name}", figures, {"rewrites": here(file).resolve()})


@flow(name="study-chunk-size")
def study_chunk_size(
    dataset: Dataset = "records",
    sizes: ChunkSizes = "128,256,512,1024,2048",
    sanitized_by: SanitizedBy = "",
    evaluator: Evaluator = "",
    budget_usd: Budget = None,
    workers: Workers = None,
    in_flight: InFlight = None,
    root: Root = "",
    run_file: RunFile = "",
    settings: Settings = [],  # noqa: B006 - Prefect reads it as the form's default, nobody writes to it
) -> State[Any] | None:
    """Sanitize and judge at several chunk sizes, as `privasis study chunk-size` does."""
    with flags_of(
        run_file, settings, dataset=dataset, root=root, workers=workers, in_flight=in_flight, budget=budget_usd
    ) as flags:
        run = run_of(flags)
        stopped = carry_out(
            lambda: chunk_size_command.run(flags, sizes, sanitized_by or None, evaluator or None, as_json=False),
            [sanitize_shard, evaluate_shard],
        )
    if stopped is not None:
        return stopped
    tell_made(f"{run.dataset}: chunk sizes", {}, {"page": (run.root / run.dataset / "chunk-sizes.html").resolve()})
    return None
