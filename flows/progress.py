"""Shows what the workers are doing while a flow waits for them: a live line for a person, log lines elsewhere."""

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

from infra.ray.worker import WorkerPool

logger = logging.getLogger(__name__)

EVERY_S = 0.5
LOG_EVERY_S = 30.0
OUTCOMES = ("records", "filtered", "quarantined")


@dataclass
class Tally:
    """Counts over all jobs, those that have ended included: a worker forgets a job with its end."""

    _latest: dict[str, dict[str, int]] = field(default_factory=dict)

    def update(self, progress: dict[str, dict[str, int]]) -> dict[str, int]:
        """Take in the counters of the jobs running now, return the sums over all that were ever seen."""
        self._latest |= progress
        sums: dict[str, int] = {}
        for counters in self._latest.values():
            for name, count in counters.items():
                sums[name] = sums.get(name, 0) + count
        return sums


@contextmanager
def shown(pool: WorkerPool, total: int) -> Iterator[None]:
    """Show the progress of ``pool`` towards ``total`` records for the length of the block."""
    ended = threading.Event()
    follow = _on_terminal if sys.stderr.isatty() else _in_log
    thread = threading.Thread(target=follow, args=(pool, total, ended), name="progress")
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _on_terminal(pool: WorkerPool, total: int, ended: threading.Event) -> None:
    columns = (
        SpinnerColumn(),
        TextColumn("records"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    tally = Tally()
    with Progress(*columns, console=Console(stderr=True), transient=False) as bar:
        line = bar.add_task("records", total=total, detail="starting")
        while not ended.wait(EVERY_S):
            sums = tally.update(pool.progress())
            bar.update(line, completed=_finished(sums), detail=_detail(sums))


def _in_log(pool: WorkerPool, total: int, ended: threading.Event) -> None:
    tally = Tally()
    said = time.monotonic()
    while not ended.wait(EVERY_S):
        sums = tally.update(pool.progress())
        if time.monotonic() - said >= LOG_EVERY_S:
            said = time.monotonic()
            logger.warning("%d of %d records, %s", _finished(sums), total, _detail(sums))


def _finished(sums: dict[str, int]) -> int:
    return sum(sums.get(name, 0) for name in OUTCOMES)


def _detail(sums: dict[str, int]) -> str:
    rejected = sums.get("filtered", 0) + sums.get("quarantined", 0)
    return f"{sums.get('calls', 0)} calls, {sums.get('tokens', 0):,} tokens, {rejected} rejected"
