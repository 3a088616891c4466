"""Makes again, or at last, what several stages lack: in the order of their lineage, as much as one run may."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Literal, get_args

from prefect import flow
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from flows.config import ConfigError, RunConfig
from flows.engines import planned_job
from flows.evaluate import Asked, evaluate, plan_evaluation, planned_evaluation
from flows.matrix.look import matrix_of
from flows.matrix.markdown import tell_matrix
from flows.sanitize import plan_sanitization, planned_sanitization, sanitize
from flows.split import plan_splits, split, split_job
from flows.synthesize import plan_run, synthesize
from infra.shards.failures import FailureNotes
from infra.shards.plan import Plan, PlannedShard, Reprocess, State
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.evaluation.store.steps import evaluations_of
from tasks.shards.steps import ShardReceipt

StageName = Literal["records", "triplets", "splits", "evaluation"]  # in the order in which one reads another
STAGES: tuple[StageName, ...] = get_args(StageName)
Order = Literal["begun_first", "ascending", "descending", "oldest_first", "smallest_first"]
ChosenState = Literal["missing", "open", "failed", "stale", "committed"]
PIPELINE = "triplets"  # the sanitizer whose full success tells the vanilla from the hard test


class Selection(BaseModel):
    """What a backfill is to make; what is empty or None leaves nothing out."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    stages: tuple[StageName, ...] = Field(default=("records", "triplets"), min_length=1)
    reprocess: Reprocess = "missing_and_failed"
    rows: ShardRange | None = Field(default=None, description="only shards with rows of these")
    names: tuple[str, ...] = Field(default=(), description="only shards of these names")
    states: tuple[ChosenState, ...] = Field(default=(), description="only shards in these states")
    reason: str = Field(default="", description="only shards whose state has a reason with this text in it")
    made_before: AwareDatetime | None = Field(default=None, description="only shards that were not committed since")
    order: Order = "begun_first"
    at_once: int | None = Field(default=None, ge=1, description="shards worked on at once")
    most: int | None = Field(default=None, ge=1, description="shards in one run, of all stages together")


@dataclass(frozen=True, slots=True)
class Chosen:
    """What is to be done of a stage.

    Attributes:
        stage: its name.
        shards: what to make now, in this order.
        rest: how many more the selection names; they are left for another run.
        held: shards that other workers have.
        failures: of those whose last attempt failed, what it said.
    """

    stage: StageName
    shards: tuple[PlannedShard, ...]
    rest: int
    held: int
    failures: Mapping[ShardRange, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the shards to make."""
        return tuple(each.shard.name for each in self.shards)

    def standing(self, planned: PlannedShard) -> str:
        """Return where a shard stands, and why."""
        failure = self.failures.get(planned.shard)
        state, why = ("failed", failure) if failure else (planned.state, planned.reason)
        return f"{state}: {why}" if why else state


@dataclass(frozen=True, slots=True)
class StageDone:
    """What a run has made of a stage."""

    chosen: Chosen
    receipts: tuple[ShardReceipt, ...]


@dataclass(frozen=True, slots=True)
class BackfillReport:
    """What one call of the flow did."""

    stages: tuple[StageDone, ...]

    @property
    def made(self) -> int:
        """Shards made."""
        return sum(len(each.chosen.shards) for each in self.stages)

    @property
    def rest(self) -> int:
        """Shards that the selection names and that are left for another run."""
        return sum(each.chosen.rest for each in self.stages)


@dataclass(frozen=True, slots=True)
class Stage:
    """A stage as a backfill drives it."""

    name: StageName
    store: StageStore
    plan: Callable[[Reprocess], Plan]
    make: Callable[[Reprocess, tuple[str, ...]], tuple[ShardReceipt, ...]]


def stages_of(run: RunConfig, selection: Selection, asked: Asked | None) -> list[Stage]:
    """Return the stages that are selected, each after those it reads.

    Raises:
        ConfigError: an evaluation is selected, and it is not said of what by whom.
    """
    build: Mapping[StageName, Callable[[], Stage]] = {
        "records": partial(_records, run),
        "triplets": partial(_triplets, run),
        "splits": partial(_splits, run),
        "evaluation": partial(_evaluation, run, asked),
    }
    return [build[name]() for name in STAGES if name in selection.stages]


def choose(stage: Stage, selection: Selection, most: int | None) -> Chosen:
    """Say which shards of a stage are to be made now; reads only.

    Args:
        stage: the stage.
        selection: what is asked for.
        most: shards that this run may still make.
    """
    plan = stage.plan(selection.reprocess)
    planned = {each.shard: each for each in plan.shards}
    failed = {shard: str(note) for shard, note in FailureNotes(stage.store.layout).all().items()}
    todo = [each for shard in plan.todo if _is_meant(each := planned[shard], selection, failed)]
    if selection.made_before is not None:
        todo = [each for each in todo if _is_old(stage.store, each, selection)]
    todo = _ordered(todo, selection.order, stage.store)
    kept = todo if most is None else todo[:most]
    held = sum(each.state == "held" for each in plan.shards)
    failures = {each.shard: failed[each.shard] for each in kept if each.shard in failed and each.state != "committed"}
    return Chosen(stage.name, tuple(kept), len(todo) - len(kept), held, failures)


@flow(name="backfill")
def backfill(run: RunConfig, selection: Selection, asked: Asked | None = None) -> BackfillReport:
    """Make the selected shards of the selected stages; each stage is planned when those that it reads are made.

    Args:
        run: the data set and its settings.
        selection: which stages and shards, in which order, how many.
        asked: who judges whom, where the evaluation is among the stages.
    """
    run = at_once(run, selection.at_once)
    done: list[StageDone] = []
    left = selection.most
    try:
        for stage in stages_of(run, selection, asked):
            stage.store.sweep()  # what killed runs have left
            chosen = choose(stage, selection, left)
            receipts = stage.make(selection.reprocess, chosen.names) if chosen.shards else ()
            left = None if left is None else left - len(chosen.shards)
            done.append(StageDone(chosen, receipts))
    finally:
        with suppress(ConfigError):  # nothing of the data set is there yet: why, the error says that is under way
            tell_matrix(matrix_of(run.root / run.dataset))
    return BackfillReport(tuple(done))


def at_once(run: RunConfig, shards: int | None) -> RunConfig:
    """Return the run with workers and shards of each such that at most so many are worked on at once."""
    if shards is None:
        return run
    workers = shards if run.workers == "cluster" else min(run.workers, shards)
    return run.model_copy(update={"workers": workers, "shards_each": shards // workers})


def _is_meant(each: PlannedShard, selection: Selection, failed: Mapping[ShardRange, str]) -> bool:
    note = failed.get(each.shard) if each.state != "committed" else None
    if selection.reprocess == "missing" and note is not None:
        return False  # it was begun, whatever it has left
    state: State | ChosenState = "failed" if note is not None else each.state
    rows = selection.rows
    return (
        (rows is None or each.shard.overlaps(rows))
        and (not selection.names or each.shard.name in selection.names)
        and (not selection.states or state in selection.states)
        and selection.reason.casefold() in f"{each.reason} {note or ''}".casefold()
    )


def _is_old(store: StageStore, each: PlannedShard, selection: Selection) -> bool:
    if each.state not in ("committed", "stale"):
        return True
    created = store.manifest.record(each.shard).created_at
    return selection.made_before is None or created < selection.made_before


def _ordered(todo: Sequence[PlannedShard], order: Order, store: StageStore) -> list[PlannedShard]:
    match order:
        case "begun_first":  # as planned
            return list(todo)
        case "ascending":
            return sorted(todo, key=lambda each: each.shard)
        case "descending":
            return sorted(todo, key=lambda each: each.shard, reverse=True)
        case "smallest_first":
            return sorted(todo, key=lambda each: (len(each.shard), each.shard))
        case "oldest_first":  # what was never committed is older than all
            records = store.manifest.records()
            ages = {shard: record.created_at.timestamp() for shard, record in records.items()}
            return sorted(todo, key=lambda each: (ages.get(each.shard, 0.0), each.shard))


def _records(run: RunConfig) -> Stage:
    return Stage(
        "records",
        planned_job(run).store(),
        lambda reprocess: plan_run(run, reprocess),
        lambda reprocess, names: synthesize(run, reprocess, names).receipts,
    )


def _triplets(run: RunConfig) -> Stage:
    return Stage(
        "triplets",
        planned_sanitization(run).store(),
        lambda reprocess: plan_sanitization(run, reprocess),
        lambda reprocess, names: sanitize(run, reprocess, names).receipts,
    )


def _splits(run: RunConfig) -> Stage:
    job = split_job(run, run.splits)
    found = evaluations_of(job.root, job.dataset, PIPELINE)
    if len(found) > 1:
        raise ConfigError(
            f"several evaluations of the pipeline's own texts: `privasis split` asks which: {list(found)}"
        )
    evaluations = next(iter(found.values()), None)

    def make(reprocess: Reprocess, names: tuple[str, ...]) -> tuple[ShardReceipt, ...]:
        split(job, evaluations, names, reprocess)
        return ()  # it asks nobody

    return Stage("splits", job.store(), lambda reprocess: plan_splits(job, evaluations, reprocess), make)


def _evaluation(run: RunConfig, asked: Asked | None) -> Stage:
    if asked is None:
        raise ConfigError("stage evaluation: say who judges whom (--sanitizer, --evaluator)")
    job = planned_evaluation(run, asked)
    return Stage(
        "evaluation",
        job.store(),
        lambda reprocess: plan_evaluation(job, reprocess),
        lambda reprocess, names: evaluate(run, asked, reprocess, names).receipts,
    )
