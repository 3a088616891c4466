"""Shows how far scoring is, how fast it is and when it ends: a live line for a person, log lines elsewhere."""

import logging
import sys
import threading
import time
from collections import deque
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import timedelta

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from flows.artifacts.progress import Progress as Told
from flows.artifacts.progress import progress_told
from flows.progress import EVERY_S, LOG_EVERY_S, Tally
from infra.ray.worker import WorkerPool

logger = logging.getLogger(__name__)

WINDOW_S = 120.0  # rates are of the last two minutes: results come by batches, which take many seconds on a CPU


@dataclass
class Pace:
    """Counts of rows and tokens over time."""

    total: int
    _seen: deque[tuple[float, int, int]] = field(default_factory=deque)

    def told(self, sums: Mapping[str, int], now: float) -> tuple[int, str]:
        """Take in the counts of this moment; return the rows done and a line about the rest."""
        rejected, tokens = sums.get("rejected", 0), sums.get("tokens", 0)
        rows = sums.get("documents", 0) + rejected
        self._seen.append((now, rows, tokens))
        while now - self._seen[0][0] > WINDOW_S:
            self._seen.popleft()
        then, rows_then, tokens_then = self._seen[0]
        line = f"{tokens:,} tokens"
        if tokens > tokens_then:
            line += f", {(tokens - tokens_then) / (now - then):,.0f} a second"
        if rows > rows_then:
            left = timedelta(seconds=round((self.total - rows) * (now - then) / (rows - rows_then)))
            line += f", {left} to go"
        return rows, f"{line}, {rejected:,} rejected" if rejected else line


@contextmanager
def shown(pool: WorkerPool, total: int) -> Iterator[None]:
    """Show the progress of ``pool`` towards ``total`` rows for the length of the block."""
    ended = threading.Event()
    follow = _on_terminal if sys.stderr.isatty() else _in_log
    thread = threading.Thread(target=follow, args=(pool, total, ended), name="progress")
    tally, pace = Tally(), Pace(total)

    def read() -> Told:
        rows, detail = pace.told(tally.update(pool.progress()), time.monotonic())
        return Told(rows, total, detail)

    thread.start()
    try:
        with progress_told("scores", read):
            yield
    finally:
        ended.set()
        thread.join()


def _on_terminal(pool: WorkerPool, total: int, ended: threading.Event) -> None:
    columns = (
        SpinnerColumn(),
        TextColumn("documents"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    tally, pace = Tally(), Pace(total)
    with Progress(*columns, console=Console(stderr=True), transient=False) as bar:
        line = bar.add_task("documents", total=total, detail="loading the model")
        while not ended.wait(EVERY_S):
            rows, detail = pace.told(tally.update(pool.progress()), time.monotonic())
            if rows:
                bar.update(line, completed=rows, detail=detail)


def _in_log(pool: WorkerPool, total: int, ended: threading.Event) -> None:
    tally, pace = Tally(), Pace(total)
    said = time.monotonic()
    while not ended.wait(EVERY_S):
        now = time.monotonic()
        rows, detail = pace.told(tally.update(pool.progress()), now)
        if now - said >= LOG_EVERY_S:
            said = now
            logger.warning("%d of %d documents, %s", rows, total, detail)
