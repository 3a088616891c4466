"""Shows what the workers are doing while a flow waits for them: a live line for a person, log lines elsewhere."""

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from flows.budget import Budget, BudgetSpent, here_usd
from flows.commands.wording import duration
from infra.ray.worker import WorkerPool
from tasks.report.formats import fixed, usd

logger = logging.getLogger(__name__)

EVERY_S = 0.5
LOG_EVERY_S = 30.0
RATE_OF_S = 60.0
OUTCOMES = ("records", "filtered", "quarantined")


@dataclass
class Tally:
    """Counts over all jobs, those that have failed included: a worker forgets a job with its end."""

    _latest: dict[str, dict[str, int]] = field(default_factory=dict)

    def update(self, progress: dict[str, dict[str, int]]) -> dict[str, int]:
        """Take in the counters of the jobs that are done or run now, return the sums over all that were ever seen."""
        self._latest |= progress
        sums: dict[str, int] = {}
        for counters in self._latest.values():
            for name, count in counters.items():
                sums[name] = sums.get(name, 0) + count
        return sums


@dataclass
class Watch:
    """What the progress of a run is held against.

    Attributes:
        pool: whose workers are asked.
        total: records to be made.
        budget: stops the pool when it is spent.
        stopped: whether it has.
    """

    pool: WorkerPool
    total: int
    budget: Budget = field(default_factory=lambda: Budget(None, 0.0))
    stopped: bool = False
    _tally: Tally = field(default_factory=Tally)
    _marks: deque[tuple[float, int]] = field(default_factory=deque)  # records finished, at moments of the last minute

    def look(self) -> dict[str, int]:
        """Return the sums of all counters, and stop the pool when the budget is spent."""
        sums = self._tally.update(self.pool.progress())
        if not self.stopped and self.budget.is_spent(sums):
            self.stopped = True
            logger.warning("the budget is spent: what is in flight may end, nothing new is begun")
            threading.Thread(target=self.pool.stop, name="budget").start()
        return sums

    def rows_per_s(self, finished: int, now: float) -> float:
        """Take in how many records are finished at this moment, and return what a second of the last minute brought."""
        self._marks.append((now, finished))
        while now - self._marks[0][0] > RATE_OF_S:
            self._marks.popleft()
        began, before = self._marks[0]
        return max(0, finished - before) / (now - began) if now > began else 0.0

    def line(self, sums: dict[str, int]) -> str:
        """Say what the workers have done, how fast they are and what it costs."""
        finished = _finished(sums)
        per_s = self.rows_per_s(finished, time.monotonic())
        return detail_of(sums, self.total) + pace_of(per_s, self.total - finished)

    def check(self) -> None:
        """Tell why the pool was stopped, once all its jobs have ended: what was in flight then has cost something, too.

        Raises:
            BudgetSpent: the budget was spent.
        """
        if self.stopped:
            raise BudgetSpent(self.budget.message(self.budget.spent_usd(self.look())))


@contextmanager
def shown(pool: WorkerPool, total: int, budget: Budget | None = None) -> Iterator[Watch]:
    """Show the progress of ``pool`` towards ``total`` records for the length of the block, and keep to ``budget``."""
    watch = Watch(pool, total) if budget is None else Watch(pool, total, budget)
    ended = threading.Event()
    follow = _on_terminal if sys.stderr.isatty() else _in_log
    thread = threading.Thread(target=follow, args=(watch, ended), name="progress")
    thread.start()
    try:
        yield watch
    finally:
        ended.set()
        thread.join()


def _on_terminal(watch: Watch, ended: threading.Event) -> None:
    columns = (
        SpinnerColumn(),
        TextColumn("records"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as bar:
        line = bar.add_task("records", total=watch.total, detail="starting")
        while not ended.wait(EVERY_S):
            sums = watch.look()
            bar.update(line, completed=_finished(sums), detail=watch.line(sums))


def _in_log(watch: Watch, ended: threading.Event) -> None:
    said = time.monotonic()
    while not ended.wait(EVERY_S):
        sums = watch.look()
        line = watch.line(sums)
        if time.monotonic() - said >= LOG_EVERY_S:
            said = time.monotonic()
            logger.warning("%d of %d records, %s", _finished(sums), watch.total, line)


def _finished(sums: dict[str, int]) -> int:
    return sum(sums.get(name, 0) for name in OUTCOMES)


def detail_of(sums: dict[str, int], total: int) -> str:
    """Say what the workers have done and what it costs; from what is finished, what all of it will."""
    rejected = sums.get("filtered", 0) + sums.get("quarantined", 0)
    text = f"{sums.get('calls', 0)} calls, {sums.get('tokens', 0):,} tokens, {rejected} rejected"
    cost_usd, finished = here_usd(sums), _finished(sums)
    if cost_usd and finished:
        text += f", {usd(cost_usd)} of about {usd(cost_usd / finished * total)}"
    return text


def pace_of(rows_per_s: float, left: int) -> str:
    """Say how fast records are finished, and how long the rest takes at that rate; nothing while nothing is."""
    if not rows_per_s:
        return ""
    return f", {fixed(60 * rows_per_s)} a minute, {duration(left / rows_per_s / 3600)} to go"
