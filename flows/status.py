"""Tells other terminals and Prometheus how a run is: a small file in the data set's folder, an address on loopback."""

import logging
import threading
import time
from collections import Counter, deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime

from flows.artifacts.progress import progress_of, progress_told
from flows.budget import Budget, BudgetSpent, here_usd
from flows.progress import OUTCOMES
from flows.status_file import begin, every_s, write
from infra.events import budget_reached
from infra.metrics import served
from infra.ray.worker import WorkerPool
from infra.run_state import (
    Looks,
    Money,
    Rates,
    RunState,
    ShardCounts,
    StepState,
    Waits,
    WorkerLook,
    WorkerState,
    servers_of,
)
from infra.settings import settings
from infra.shards.layout import Layout
from infra.shards.location import Location
from infra.shards.owner import Owner
from infra.shards.plan import Plan
from infra.shards.s3 import StorageUnavailable

logger = logging.getLogger(__name__)

RATES_OF_S = 60.0


@dataclass(frozen=True, slots=True)
class _Mark:
    """Counts at one moment, of which rates are told; ``at`` is monotonic."""

    at: float
    rows: int
    calls: int
    prompt: float
    completion: float


@dataclass
class Pace:
    """Counts of the last minute."""

    _marks: deque[_Mark] = field(default_factory=deque)
    _moved_at: float | None = None

    def rates(self, rows: int, steps: tuple[StepState, ...], now: float) -> Rates:
        """Take in the counts of this moment, and return what a second of the last minute has brought."""
        mark = _Mark(
            now,
            rows,
            sum(step.seconds.count for step in steps),
            sum(step.prompt.total for step in steps),
            sum(step.completion.total for step in steps),
        )
        if not self._marks or (mark.rows, mark.calls) != (self._marks[-1].rows, self._marks[-1].calls):
            self._moved_at = now
        self._marks.append(mark)
        while now - self._marks[0].at > RATES_OF_S:
            self._marks.popleft()
        first = self._marks[0]
        past_s = mark.at - first.at
        if past_s <= 0:
            return Rates()
        return Rates(
            rows=max(0, mark.rows - first.rows) / past_s,  # a shard that failed takes its rows along
            calls=(mark.calls - first.calls) / past_s,
            prompt_tokens=(mark.prompt - first.prompt) / past_s,
            completion_tokens=(mark.completion - first.completion) / past_s,
        )

    def still_s(self, now: float) -> float:
        """Return for how long nothing has moved."""
        return 0.0 if self._moved_at is None else now - self._moved_at


@dataclass
class Observer:
    """Puts together the state of a run from what its pool of workers says.

    Attributes:
        pool: does the work.
        layout: of the stage's files.
        planned: what is to be done.
        rows: to be made.
        budget: what the stage may cost.
        metrics_url: where the state can be asked for.
    """

    pool: WorkerPool
    layout: Layout
    planned: Plan
    rows: int
    budget: Budget
    metrics_url: str
    began_at: datetime = field(default_factory=lambda: datetime.now(UTC))
    _owner: Owner = field(default_factory=Owner.here)
    _looks: Looks = field(default_factory=Looks)
    _pace: Pace = field(default_factory=Pace)
    _last: dict[int, WorkerLook] = field(default_factory=dict)

    def look(self) -> RunState:
        """Ask all workers and return the state as it is now."""
        looks = self.pool.looks()
        for index, look in enumerate(looks):
            if look is not None:
                self._looks.add(look)
                self._last[index] = look
        sums = self._looks.finished()
        for look in self._last.values():  # of one that is silent for a moment, what it said last
            for job in look.jobs:
                sums.update(job.counters)
        done = {name: sums[name] for name in OUTCOMES if sums[name]}
        finished, now, steps = sum(done.values()), time.monotonic(), self._looks.steps()
        rates = self._pace.rates(finished, steps, now)
        shards, shard_waits = self._shards(sums)
        return RunState(
            dataset=self.layout.manifest.parents[1].name,
            stage=self.layout.manifest.name,
            owner=self._owner,
            began_at=self.began_at,
            written_at=datetime.now(UTC),
            stopping=self.pool.stopping,
            metrics_url=self.metrics_url,
            rows=self.rows,
            done=done,
            eta_s=max(0, self.rows - finished) / rates.rows if rates.rows > 0 else None,
            still_s=self._pace.still_s(now),
            rates=rates,
            money=self._money(sums, finished),
            shards=shards,
            shard_waits=shard_waits,
            workers=tuple(self._worker(index, answers=look is not None) for index, look in enumerate(looks)),
            servers=servers_of(server for look in self._last.values() for server in look.servers),
            steps=steps,
            failures=self._looks.failures(),
        )

    def _money(self, sums: Mapping[str, int], finished: int) -> Money:
        here = here_usd(sums)
        projected = self.budget.before_usd + here / finished * self.rows if finished and here else None
        return Money(spent_usd=self.budget.spent_usd(sums), projected_usd=projected, limit_usd=self.budget.limit_usd)

    def _shards(self, sums: Mapping[str, int]) -> tuple[ShardCounts, dict[Waits, int]]:
        done, running, idle = self.pool.jobs()
        todo = set(self.planned.todo)
        before = sum(planned.state == "committed" and planned.shard not in todo for planned in self.planned.shards)
        waiting = max(0, len(todo) - done - running)
        waits = Counter(idle)
        waits["worker"] += max(0, waiting - waits.total())  # there are more shards than threads that bring them
        if waiting and self.budget.is_spent(sums):
            waits = Counter({"budget": waiting})
        held = self.planned.counts()["held"]
        counts = ShardCounts(committed=before + done, running=running, waiting=waiting, held=held)
        return counts, {reason: count for reason, count in waits.items() if count}

    def _worker(self, index: int, *, answers: bool) -> WorkerState:
        look = self._last.get(index)
        if look is None:
            return WorkerState(index=index, answers=answers)
        names = tuple(job.name for job in look.jobs)
        return WorkerState(
            index=index,
            answers=answers,
            host=look.host,
            pid=look.pid,
            shards=names if answers else (),
            waits=look.waits if answers else {},
            oldest_s=look.oldest_s if answers else 0.0,
        )


@contextmanager
def published(pool: WorkerPool, layout: Layout, planned: Plan, rows: int, budget: Budget) -> Iterator[None]:
    """Tell about the run every second for the length of the block, and at its end how it ended.

    Args:
        pool: does the work.
        layout: of the files of the stage that is made.
        planned: what is to be done.
        rows: to be made.
        budget: what the stage may cost.

    Raises:
        OSError: the metrics' port is taken, or the data set's folder cannot be written to.
    """
    latest: RunState | None = None
    ended = threading.Event()
    with (
        served(lambda: latest, settings().metrics_port) as url,
        progress_told(
            f"{layout.manifest.parents[1].name} {layout.manifest.name}",
            lambda: None if latest is None else progress_of(latest),
        ),
    ):
        observer = Observer(pool, layout, planned, rows, budget, url)
        path = begin(layout, observer.began_at)

        def follow() -> None:
            nonlocal latest
            while not ended.wait(every_s(path)):
                latest = observer.look()
                _tell(path, latest)

        write(path, latest := observer.look())
        thread = threading.Thread(target=follow, name="status")
        thread.start()
        error = "a signal"  # unless we learn better
        try:
            yield
            error = ""
        except BaseException as caught:
            error = type(caught).__name__
            if isinstance(caught, BudgetSpent) and budget.limit_usd is not None:
                budget_reached(layout, budget.limit_usd, observer.look().money.spent_usd)
            raise
        finally:
            ended.set()
            thread.join()
            latest = observer.look()
            _tell(path, latest.model_copy(update={"ended_at": latest.written_at, "ended_with": error}))


def _tell(path: Location, state: RunState) -> None:
    """Write the state; a run that cannot say how it is goes on."""
    try:
        write(path, state)
    except (OSError, StorageUnavailable) as error:
        logger.warning("`privasis status` shows an old state, the new one cannot be written: %s", error)
