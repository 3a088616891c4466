"""Log files that do not grow for ever."""

import shutil
from pathlib import Path

LARGE_BYTES = 20_000_000


def cut_logs(folder: Path, large_bytes: int = LARGE_BYTES) -> None:
    """Move what is in large logs to ``NAME.log.1``; their writers append, and so go on at the beginning.

    A line that is written between the two steps is lost.
    """
    for log in folder.glob("*.log"):
        if log.stat().st_size > large_bytes:
            shutil.copyfile(log, log.with_suffix(".log.1"))
            with log.open("r+b") as file:
                file.truncate()
