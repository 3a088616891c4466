"""Lines of a log, and log files that do not grow for ever."""

import shutil
import sys
from datetime import datetime
from pathlib import Path

LARGE_BYTES = 20_000_000


def say(text: str) -> None:
    """Write a line with the time in front."""
    now = datetime.now().astimezone().isoformat(timespec="seconds")
    print(f"{now} {text}", file=sys.stderr, flush=True)  # noqa: T201 - into the log, or to a container's


def cut_logs(folder: Path, large_bytes: int = LARGE_BYTES) -> None:
    """Move what is in large logs to ``NAME.log.1``; their writers append, and so go on at the beginning.

    A line that is written between the two steps is lost.
    """
    for log in folder.glob("*.log"):
        if log.stat().st_size > large_bytes:
            shutil.copyfile(log, log.with_suffix(".log.1"))
            with log.open("r+b") as file:
                file.truncate()
