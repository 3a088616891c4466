"""Which triplets are for training, for validation and for the two tests."""

from dataclasses import dataclass
from functools import partial

from flows.config import RunConfig
from infra.shards.plan import Plan, Reprocess, plan_over
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


def plan_splits(job: SplitJob, evaluations: StageStore | None, reprocess: Reprocess = "stale") -> Plan:
    """Say which finished shards of triplets are split, and which are to be: what has changed always is."""
    store, spec = job.store(), job.spec_hash()
    sources = triplets_store(job.root, job.dataset).manifest.shards()
    return plan_over(store, sources, spec, partial(input_hashes, job, evaluations), reprocess)


def split(
    job: SplitJob,
    evaluations: StageStore | None,
    only: tuple[str, ...] | None = None,
    reprocess: Reprocess = "stale",
) -> SplitReport:
    """Split every finished shard of triplets that is not, or whose triplets or evaluation have changed.

    It asks no model and takes milliseconds a shard: no workers are started for it.

    Args:
        job: what decides.
        evaluations: of the pipeline's own texts, which tell the vanilla from the hard test; None before there are any.
        only: names of shards: of what is to be split, these alone.
        reprocess: what to split again.
    """
    job.store().sweep()
    planned = plan_splits(job, evaluations, reprocess).only(only)
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
