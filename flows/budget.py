"""What a stage of a data set has cost, and when a run has to stop because of it."""

from collections.abc import Mapping
from dataclasses import dataclass

from infra.shards.manifest import Manifest
from tasks.report.formats import usd
from tasks.shards.money import BESIDE, Lines

MICRO = 1_000_000


class BudgetSpent(Exception):
    """The run has cost what it may; what is done is kept, and a larger budget goes on from there."""


def committed_usd(manifest: Manifest) -> float:
    """Return what the finished shards have cost, failed tries and embeddings included."""
    total = 0.0
    for record in manifest.records().values():
        lines = Lines.validate_python(record.summary.notes.get("spending", []))
        total += record.summary.cost_usd + sum(line.cost_usd or 0.0 for line in lines if line.step in BESIDE)
    return total


@dataclass(frozen=True, slots=True)
class Budget:
    """What a run may cost.

    Attributes:
        limit_usd: in all; None for no limit.
        before_usd: what the stage's finished shards cost before this run. What a killed run has paid for shards that it
            did not finish counts as soon as these are worked on again.
    """

    limit_usd: float | None
    before_usd: float

    def check(self) -> None:
        """Refuse to start what could not go on.

        Raises:
            BudgetSpent: nothing is left.
        """
        if self.limit_usd is not None and self.before_usd >= self.limit_usd:
            raise BudgetSpent(self.message(self.before_usd))

    def spent_usd(self, sums: Mapping[str, int]) -> float:
        """Return what the stage has cost by now.

        Args:
            sums: the counters of all jobs of this run.
        """
        return self.before_usd + here_usd(sums)

    def is_spent(self, sums: Mapping[str, int]) -> bool:
        """Tell whether nothing new may be begun."""
        return self.limit_usd is not None and self.spent_usd(sums) >= self.limit_usd

    def message(self, spent_usd: float) -> str:
        """Say what has happened and what to do."""
        return (
            f"the budget of {usd(self.limit_usd)} is spent: {usd(spent_usd)} so far. What is done is kept: give a"
            " larger one (--budget, of `surprise route` --budget-usd, budget_usd in the run file) to go on"
        )


def here_usd(sums: Mapping[str, int]) -> float:
    """Return what the jobs of this run have cost."""
    return (sums.get("microdollars", 0) + sums.get("microdollars_beside", 0)) / MICRO
