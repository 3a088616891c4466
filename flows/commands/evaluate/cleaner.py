"""``privasis evaluate cleaner``: plan over the finished triplets, run the flow, show the figures."""

import sys
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from flows.budget import BudgetSpent
from flows.commands.checks import check_models
from flows.commands.errors import EXPECTED, Code, RunFailed
from flows.commands.evaluate.asked import check_file, model_named, sanitizer_named
from flows.commands.flags import RunFlags
from flows.commands.quiet import quiet_prefect
from flows.commands.run_of import run_of
from flows.commands.wording import counted
from flows.config import ConfigError, RunConfig
from infra.prefect_local import prefect_api
from infra.settings import settings
from infra.shards.plan import Plan, Reprocess
from tasks.evaluation.report.terminal import render_scores

if TYPE_CHECKING:
    from flows.evaluate import Asked
    from tasks.evaluation.steps import EvaluationJob


def run(
    flags: RunFlags,
    sanitizer: str,
    evaluator: str | None,
    second: str | None,
    *,
    everything: bool,
    reprocess: Reprocess,
    as_json: bool,
) -> None:
    """Judge what is not judged yet, and show the figures of all that is.

    Raises:
        ConfigError: the run is described wrongly, or there are no triplets to judge.
        RunFailed: shards did not get done.
    """
    config = run_of(flags)
    quiet_prefect()
    from flows.evaluate import Asked, plan_evaluation, planned_evaluation
    from flows.evaluation_report import to_json, write_report

    asked = Asked(
        sanitizer=sanitizer_named(config, flags, sanitizer),
        evaluator=model_named(config, flags, evaluator, "--evaluator"),
        second=model_named(config, flags, second, "--second-evaluator") if second else None,
        only_tests=not everything and is_split(config),
    )
    job = planned_evaluation(config, asked)
    check_job(config, job)
    job.store().sweep()  # what killed runs have left, also where nothing is left to judge and the flow is not called
    planned = plan_evaluation(job, reprocess)
    if planned.todo:
        check_models(asked.serving(config))
        _run(config, asked, reprocess, planned)
    elif held := planned.counts()["held"]:
        raise RunFailed(f"another process is judging {counted(held, 'shard')}: wait for it", Code.OUTSIDE)
    report = write_report(job)
    if as_json:
        sys.stdout.write(f"{to_json(report.page)}\n")
        return
    console = Console()
    console.print(render_scores(report.page))
    for line in (f"\nThe page: {report.html}", f"The figures: {report.json}"):
        console.print(Text(line), soft_wrap=True)  # a path that is cut in two cannot be copied


def is_split(config: RunConfig) -> bool:
    """Whether some triplets are set aside for tests; says so where none are."""
    from tasks.evaluation.splitting.steps import read_splits

    if read_splits(config.root.resolve(), config.dataset) is not None:
        return True
    _say("The data set is not split: all its triplets are judged. `privasis split` sets some aside for tests.")
    return False


def check_job(config: RunConfig, job: "EvaluationJob") -> None:
    """Make sure that there is something to judge, and that a file of outputs has it all.

    Raises:
        ConfigError: there is not, or it has not.
    """
    from tasks.evaluation.choice import OutputsSanitizer
    from tasks.evaluation.splitting.steps import splits_store
    from tasks.evaluation.steps import ids_to_judge

    shards = job.triplets().manifest.shards()
    if not shards:
        raise ConfigError(
            f"{config.root / config.dataset}: no finished triplets to evaluate: `privasis sanitize` first"
        )
    if job.only_tests:
        split = set(splits_store(job.root, job.dataset).manifest.shards())
        if missing := [shard for shard in shards if shard not in split]:
            raise ConfigError(f"{counted(len(missing), 'shard')} of triplets not split yet: `privasis split` first")
    wanted = sorted(record_id for shard in shards for record_id in ids_to_judge(job, shard))
    if not wanted:
        raise ConfigError(
            f"{config.root / config.dataset}: no triplet is set aside for a test: give `privasis split --test` a larger"
            " share, or --all here"
        )
    if isinstance(job.sanitizer, OutputsSanitizer):
        known = set(job.triplets().read("triplets", ["record_id"])["record_id"].to_pylist())
        check_file(job.sanitizer, wanted=wanted, known=known)


def _run(config: RunConfig, asked: "Asked", reprocess: Reprocess, planned: Plan) -> None:
    from flows.commands.failures import Failures
    from flows.evaluate import evaluate
    from tasks.evaluation.steps import evaluate_shard

    failures = Failures()
    evaluate_shard.on_failure(failures.note)
    shards = len(planned.todo)
    _say(f"{counted(shards, 'shard')} of triplets to judge; starting Prefect, Ray and the models")
    with prefect_api(settings().cache / "prefect") as ready:
        _say(f"watch it at {ready().removesuffix('/api')}")
        try:
            evaluate(config, asked, reprocess)
        except BudgetSpent:
            raise
        except EXPECTED as error:
            raise failures.told(shards) or error from error


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
