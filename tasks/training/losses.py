"""The loss curve of a run: one line of JSON a step, written as it happens, read by whoever watches."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

FILE = "losses.jsonl"

Line = dict[str, Any]


class LossLog:
    """Writes the file.

    Args:
        path: where it is.
        steps: of what is there already, keep those up to this one: what came after the checkpoint that a run goes on
            from comes again.
    """

    def __init__(self, path: Path, steps: int) -> None:
        kept = [line for line in read(path) if line["step"] <= steps]
        temporary = path.with_name(f".{path.name}.tmp")
        temporary.write_text("".join(map(_text, kept)), encoding="utf-8")
        temporary.replace(path)
        self._file = path.open("a", encoding="utf-8")

    def write(self, line: Line) -> None:
        """Add a line about a step."""
        self._file.write(_text(line))
        self._file.flush()

    def sync(self) -> None:
        """Make everything durable."""
        os.fsync(self._file.fileno())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._file.close()


class NoLog:
    """The log of the processes that keep none: one of them is enough."""

    def write(self, line: Line) -> None:
        """Do nothing."""

    def sync(self) -> None:
        """Do nothing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


def read(path: Path) -> list[Line]:
    """Return the whole lines of the file, none where there is no file yet; a torn last line is not one."""
    if not path.exists():
        return []
    return list(parsed(path.read_text(encoding="utf-8")))


def parsed(text: str) -> Iterator[Line]:
    """Read the whole lines of ``text``."""
    for line in text.splitlines(keepends=True):
        if line.endswith("\n"):
            yield json.loads(line)


def _text(line: Line) -> str:
    return json.dumps(line) + "\n"
