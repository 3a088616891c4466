"""Shows how far training is and what the loss is: a live line for a person, log lines elsewhere."""

import logging
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn

from flows.artifacts.progress import Progress as Told
from flows.artifacts.progress import progress_told
from flows.progress import EVERY_S, LOG_EVERY_S
from tasks.training import losses

logger = logging.getLogger(__name__)

RECENT = 20  # steps that speed is told from


def told(lines: list[losses.Line], total: int) -> tuple[int, str]:
    """Return the steps done, and a line about them."""
    steps = [line for line in lines if "loss" in line]
    if not steps:
        return 0, "loading the model"
    recent = steps[-RECENT:]
    seconds = sum(line["seconds"] for line in recent)
    pace = sum(line["tokens"] for line in recent) / max(seconds, 1e-9)
    left = timedelta(seconds=round((total - steps[-1]["step"]) * seconds / len(recent)))
    detail = f"loss {steps[-1]['loss']:.4f}, {pace:,.0f} tokens a second, {left} to go"
    evaluated = [line["evaluation_loss"] for line in lines if "evaluation_loss" in line]
    return steps[-1]["step"], f"{detail}, evaluation loss {evaluated[-1]:.4f}" if evaluated else detail


@contextmanager
def shown(folder: Path, total: int) -> Iterator[None]:
    """Show the progress of the run in ``folder`` towards ``total`` steps for the length of the block."""
    ended = threading.Event()
    follow = _on_terminal if sys.stderr.isatty() else _in_log
    thread = threading.Thread(target=follow, args=(folder / losses.FILE, total, ended), name="progress")
    thread.start()
    try:
        with progress_told(folder.name, lambda: Told(*_steps(folder / losses.FILE, total))):
            yield
    finally:
        ended.set()
        thread.join()


def _steps(file: Path, total: int) -> tuple[int, int, str]:
    steps, detail = told(losses.read(file), total)
    return steps, total, detail


def _on_terminal(file: Path, total: int, ended: threading.Event) -> None:
    columns = (
        SpinnerColumn(),
        TextColumn("steps"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[detail]}"),
    )
    with Progress(*columns, console=Console(stderr=True), transient=False) as bar:
        line = bar.add_task("steps", total=total, detail="starting")
        while not ended.wait(EVERY_S):
            steps, detail = told(losses.read(file), total)
            bar.update(line, completed=steps, detail=detail)


def _in_log(file: Path, total: int, ended: threading.Event) -> None:
    said = time.monotonic()
    while not ended.wait(EVERY_S):
        if time.monotonic() - said >= LOG_EVERY_S:
            said = time.monotonic()
            steps, detail = told(losses.read(file), total)
            logger.warning("step %d of %d, %s", steps, total, detail)
