"""Which triplets are for training, for validation and for the two tests."""

from dataclasses import dataclass
from functools import partial

from flows.config import RunConfig
from infra.shards.plan import Plan, PlannedShard, plan
from infra.shards.ranges import ShardRange
from infra.shards.store import StageStore
from tasks.evaluation.splitting.assign import SplitConfig
from tasks.evaluation.splitting.statistics import COLUMNS, SplitStatistics, statistics
from tasks.evaluation.splitting.steps import SplitJob, input_hashes, make_splits, read_splits
from tasks.evaluation.verdict import full_successes
from tasks.sanitization.steps import triplets_store


@dataclass(frozen=True, slots=True)
class SplitReport:
    """What one call did: shards of triplets in all, those split now, and what is in the splits."""

    shards: int
    made: int
    splits: tuple[SplitStatistics, ...]


def split_job(run: RunConfig, config: SplitConfig) -> SplitJob:
    """Put together what splitting needs."""
    return SplitJob(root=run.root.resolve(), dataset=run.dataset, config=config)


def plan_splits(job: SplitJob, evaluations: StageStore | None) -> Plan:
    """Say which finished shards of triplets are split, and which are to be: what has changed always is."""
    store, spec = job.store(), job.spec_hash()
    shards: list[PlannedShard] = []
    todo: list[ShardRange] = []
    for shard in triplets_store(job.root, job.dataset).manifest.shards():
        one = plan(store, shard, shard.stop, spec, partial(input_hashes, job, evaluations), "stale")
        shards += one.shards
        todo += one.todo
    return Plan(tuple(shards), tuple(sorted(todo)))


def split(job: SplitJob, evaluations: StageStore | None) -> SplitReport:
    """Split every finished shard of triplets that is not, or whose triplets or evaluation have changed.

    It asks no model and takes milliseconds a shard: no workers are started for it.

    Args:
        job: what decides.
        evaluations: of the pipeline's own texts, which tell the vanilla from the hard test; None before there are any.
    """
    job.store().sweep()
    planned = plan_splits(job, evaluations)
    for shard in planned.todo:
        make_splits(job, evaluations, shard, full_successes)
    triplets = triplets_store(job.root, job.dataset)
    rows = (
        row
        for shard in triplets.manifest.shards()
        for row in triplets.read_shard("triplets", shard, COLUMNS).to_pylist()
    )
    found = statistics(rows, read_splits(job.root, job.dataset) or {})
    return SplitReport(len(planned.shards), len(planned.todo), found)
