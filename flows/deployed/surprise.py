"""Deployments that find and mask what a public model finds surprising (Surprise Masking)."""

from typing import Any

from prefect import flow
from prefect.client.schemas.objects import State

from flows import surprise_mask as masking
from flows import surprise_route as routing
from flows import surprise_score as scoring
from flows.artifacts.made import figures_of, tell_made
from flows.artifacts.shards import tell_shards
from flows.commands.checks import check_models, make_home
from flows.commands.surprise import calibrate as calibrate_command
from flows.commands.surprise import mask as mask_command
from flows.commands.surprise import route as route_command
from flows.commands.surprise.score import ScoreFlags, check_some, run_of
from flows.commands.surprise.wanted import Wanted
from flows.deployed.asked import held_root, here, place
from flows.deployed.parameters import Budget, HeldRoot, Output, Reprocess, ScoresFolder, Tokenizer
from flows.deployed.running import carry_out
from flows.deployed.surprise_parameters import (
    Compliant,
    Consensus,
    Context,
    Documents,
    Format,
    Goal,
    GoalShare,
    GroupColumn,
    IdColumn,
    Inputs,
    Judge,
    Labels,
    LabelsColumn,
    MessagesColumn,
    Plain,
    PolicyFile,
    PolicyOutput,
    Preset,
    Private,
    Processes,
    Prompt,
    Propagate,
    Redact,
    ReferenceModel,
    Rewriter,
    Rule,
    ScoresName,
    Selection,
    SelectorUsd,
    ShardSize,
    Shares,
    Strata,
    Stride,
    Suffixes,
    TextColumn,
    TrainedTokenizer,
    Unit,
    Violating,
    Whole,
    Windows,
    WindowScore,
)
from flows.synthesize import RUNNER
from tasks.surprise.routing.steps import route_shard
from tasks.surprise.steps import score_shard


@flow(name="surprise-score", task_runner=RUNNER)
def surprise_score(
    inputs: Inputs,
    dataset: ScoresName = "scored",
    root: HeldRoot = "",
    model: ReferenceModel = "qwen2.5-coder-0.5b",
    tokenizer: Tokenizer = "",
    format: Format = "auto",
    suffixes: Suffixes = [],  # noqa: B006 - Prefect reads them as the form's defaults, nobody writes to them
    text_column: TextColumn = "text",
    messages_column: MessagesColumn = "",
    id_column: IdColumn = "",
    group_column: GroupColumn = "",
    labels_column: LabelsColumn = "",
    strata: Strata = [],  # noqa: B006
    prompt: Prompt = "",
    violating: Violating = "",
    compliant: Compliant = "",
    plain: Plain = True,
    context: Context = None,
    stride: Stride = None,
    workers: Processes = 1,
    shard_size: ShardSize = 512,
    reprocess: Reprocess = "missing_and_failed",
) -> scoring.ScoreReport | State[Any]:
    """Score every token of texts or chats by a reference model, as `privasis surprise score` does."""
    run = run_of(
        ScoreFlags(
            inputs=tuple(map(place, inputs)),
            dataset=dataset,
            root=held_root(root),
            model=model,
            tokenizer=tokenizer or None,
            format=format,
            suffixes=tuple(suffixes),
            text=text_column,
            messages=messages_column or None,
            id=id_column or None,
            group=group_column or None,
            labels=labels_column or None,
            labelled=None,
            regions=None,
            supervised=None,
            strata=tuple(strata),
            prompt=prompt or None,
            violating=violating or None,
            compliant=compliant or None,
            plain=plain,
            context=context,
            stride=stride,
            workers=workers,
            shard_size=shard_size,
        )
    )
    run.model.check_installed()
    rows = run.input.open()
    rows.check_columns(run.input.columns.used())  # before a model is unpacked
    job = scoring.job_of(run)
    todo = scoring.plan_scores(run, job, rows, reprocess).todo
    if todo:
        make_home(run.root / run.dataset)
    store = job.store()
    try:
        report = carry_out(lambda: scoring.score.fn(run, reprocess), [score_shard], len(todo))
    finally:
        tell_shards(store, scoring.plan_scores(run, job, rows, "missing"))
    if not isinstance(report, State):
        figures = {
            "shards made": f"{len(report.receipts):,}",
            "shards there before": f"{report.shards_before:,}",
            "documents": f"{sum(receipt.documents for receipt in report.receipts):,}",
            "tokens": f"{sum(receipt.tokens for receipt in report.receipts):,}",
            "rejected": f"{sum(sum(receipt.reasons.values()) for receipt in report.receipts):,}",
        }
        tell_made(f"{dataset}: scores", figures, {"scores": store.layout.manifest.parents[1]})
        check_some(report, store.layout.tables["score_rejects"])
    return report


@flow(name="surprise-calibrate")
def surprise_calibrate(
    scores: ScoresFolder,
    output: PolicyOutput = "policy.json",
    labels: Labels = "",
    preset: Preset = "",
    windows: Windows = "",
    score: WindowScore = "",
    rule: Rule = "",
    consensus: Consensus = None,
    propagate: Propagate = None,
    unit: Unit = "",
    goal: Goal = "preset",
    share: GoalShare = None,
) -> None:
    """Choose a threshold on labelled scores and freeze it, as `privasis surprise calibrate` does."""
    wanted = Wanted(
        preset=preset or None,
        windows=windows or None,
        score=score or None,
        rule=rule or None,
        consensus=consensus,
        propagate=propagate,
        unit=unit or None,
        recall=share if goal == "recall" else None,
        best_f1=goal == "best_f1",
        collateral_cap=share if goal == "collateral_cap" else None,
    )
    calibrate_command.run(place(scores), here(output), here(labels) if labels else None, wanted, False)
    tell_made(f"{here(output).stem}: policy", {}, {"policy": here(output).resolve()})


@flow(name="surprise-mask", task_runner=masking.RUNNER)
def surprise_mask(
    scores: ScoresFolder,
    policy: PolicyFile,
    output: Output,
    tokenizer: TrainedTokenizer = "",
    redact: Redact = "no",
) -> masking.MaskSummary:
    """Apply a frozen policy: token masks for training, or redacted texts, as `privasis surprise mask` does."""
    job = mask_command.job_of(
        place(scores),
        here(policy),
        place(output),
        here(tokenizer) if tokenizer else None,
        None if redact == "no" else redact,
    )
    summary: masking.MaskSummary = masking.surprise_mask.fn(job)
    mask_command.report(job, summary, as_json=False)
    figures = {
        "documents": f"{summary.documents:,}",
        "tokens that may be masked": f"{summary.supervised:,}",
        "masked": f"{summary.masked:,}",
    }
    tell_made(f"{job.dataset}: masks", figures, {job.target().stage: job.target().layout.manifest.parents[1]})
    return summary


@flow(name="surprise-route", task_runner=RUNNER)
def surprise_route(
    scores: ScoresFolder,
    model: Rewriter,
    output: Output,
    select: Selection = "surprise",
    budget: Shares = ".1,.2,.8",
    judge: Judge = "",
    whole: Whole = True,
    private: Private = "",
    selector_usd: SelectorUsd = 0.0,
    budget_usd: Budget = None,
    workers: Processes = 1,
    in_flight: Documents = 4,
) -> routing.RouteReport | State[Any]:
    """Rewrite only what a score selects, as `privasis surprise route` does."""
    asked = route_command.Asked(
        select=select,
        budgets=route_command.budgets_of(budget),
        model=model,
        judge=judge or None,
        whole=whole,
        private=private or None,
        selector_usd=selector_usd,
        budget_usd=budget_usd,
        workers=workers,
        in_flight=in_flight,
    )
    run, job = route_command.job_of(place(scores), place(output), asked)
    todo = job.plan().todo
    if todo:
        check_models(run)
    try:
        report = carry_out(lambda: routing.route.fn(run, job), [route_shard], len(todo))
    finally:
        tell_shards(job.store(), job.plan())
    if not isinstance(report, State):
        route_command.report(job, selector_usd, as_json=False)
        home = job.root / job.dataset
        places = {"texts": home, "figures": home / "route-report.json"}
        tell_made(f"{job.dataset}: routed", figures_of(report.receipts, report.shards_before), places)
    return report
