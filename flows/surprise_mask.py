"""From score shards to shards of token masks, or of redacted texts."""

from dataclasses import dataclass
from typing import Any

from prefect import flow, unmapped
from prefect.futures import PrefectFutureList
from prefect.task_runners import TaskRunner, ThreadPoolTaskRunner

from tasks.surprise.masking.steps import MaskJob, MaskReceipt, select_all, write_shard

RUNNER: TaskRunner[Any] = ThreadPoolTaskRunner(max_workers=4)


@dataclass(frozen=True, slots=True)
class MaskSummary:
    """What one call of the flow did, without text."""

    selected: int  # shards whose selection was made now
    receipts: tuple[MaskReceipt, ...]

    @property
    def documents(self) -> int:
        """Documents in all shards."""
        return sum(receipt.documents for receipt in self.receipts)

    @property
    def supervised(self) -> int:
        """Reference tokens that may be masked."""
        return sum(receipt.supervised for receipt in self.receipts)

    @property
    def masked(self) -> int:
        """Of them, the masked ones."""
        return sum(receipt.masked for receipt in self.receipts)


@flow(name="surprise-mask", task_runner=RUNNER)
def surprise_mask(job: MaskJob) -> MaskSummary:
    """Select once over all scores, for propagation crosses shards; then write shard by shard what is not there yet."""
    selected = select_all(job)
    shards = [shard.name for shard in job.source().manifest.shards()]
    futures: PrefectFutureList[MaskReceipt] = write_shard.map(shards, unmapped(job))
    return MaskSummary(selected, tuple(futures.result()))
