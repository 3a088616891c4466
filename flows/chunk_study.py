"""The pipeline itself judged at several chunk sizes (PV Figure 5), each in a data set of its own beside the records."""

from collections.abc import Sequence

from flows.config import RunConfig
from flows.evaluate import Asked, evaluate, plan_evaluation, planned_evaluation, scores_of
from flows.sanitize import plan_sanitization, sanitize
from infra.shards import files
from infra.shards.store import StageStore
from tasks.evaluation.figures import Scores
from tasks.synthesis.steps import records_store

SIZES = (128, 256, 512, 1024, 2048)


def run_at(run: RunConfig, size: int) -> RunConfig:
    """Return the run of one chunk size; nothing else differs, not even what is drawn."""
    sanitization = run.sanitization.model_copy(update={"chunk_characters": size})
    return run.model_copy(update={"dataset": f"{run.dataset}-chunks-{size}", "sanitization": sanitization})


def link_records(run: RunConfig, at_size: RunConfig) -> None:
    """Give the data set of a size the finished records of the run's: here by hard links, which take no room.

    A shard that was made again since is linked again.
    """
    source, target = (records_store(each.root.resolve(), each.dataset) for each in (run, at_size))
    for shard in source.manifest.shards():
        record = source.manifest.record(shard)
        if shard in target.manifest.shards():
            if target.manifest.record(shard) == record:
                continue
            target.manifest.remove(shard)
        for table in source.tables:
            files.link(source.layout.data_file(table, shard), target.layout.data_file(table, shard))
        target.manifest.put(record)


def open_sizes(run: RunConfig, asked: Asked, sizes: Sequence[int]) -> list[int]:
    """Return the sizes at which something is to be sanitized or judged; links the records of all.

    Raises:
        OSError: the file system has no hard links.
    """
    for size in sizes:
        link_records(run, run_at(run, size))
    return [size for size in sizes if _is_open(run_at(run, size), asked)]


def _is_open(run: RunConfig, asked: Asked) -> bool:
    if plan_sanitization(run, "stale").todo:
        return True
    return bool(plan_evaluation(planned_evaluation(run, asked), "stale").todo)


def study_size(run: RunConfig, asked: Asked, size: int) -> None:
    """Sanitize and judge at one size what is not yet; needs Prefect, as the two flows do."""
    at_size = run_at(run, size)
    sanitize(at_size, "stale")
    evaluate(at_size, asked, "stale")


def scores_at(run: RunConfig, asked: Asked, size: int) -> Scores:
    """Return the figures of one size, over all its triplets."""
    at_size = run_at(run, size)
    store: StageStore = planned_evaluation(at_size, asked).store()
    return scores_of(at_size.root.resolve(), at_size.dataset, store)["all"]
