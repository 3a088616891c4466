"""The files in which runs say how they are: one a run, in the data set's folder, replaced every second."""

import os
from datetime import datetime
from pathlib import Path
from typing import Literal

from pydantic import ValidationError

from flows.config import ConfigError
from infra.run_state import RunState
from infra.shards.layout import Layout

FOLDER = "status"
_MOMENT, _ANY_MOMENT = "%Y%m%dT%H%M%S", "????????T??????"
SILENT_S = 30.0  # without a word; it writes every second, unless all workers are slow to answer

Life = Literal[
    "runs",
    "ended",  # and has said so
    "died",  # its process is gone and has not
    "silent",  # it has said nothing for long, and this machine cannot see whether it lives
]


class StatusUnreadable(ConfigError):
    """A file in which a run says how it is cannot be read."""


def begin(layout: Layout, now: datetime) -> Path:
    """Clear away what ended runs of the stage have said, and return where this one says how it is."""
    folder = layout.manifest.parents[1] / FOLDER
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob(f"{layout.manifest.name}-{_ANY_MOMENT}-*.json"):
        try:
            over = (state := _read(path)) is None or life_of(state, now) != "runs"
        except StatusUnreadable:  # of another version: nobody can read what it says
            over = True
        if over:
            path.unlink(missing_ok=True)
    return folder / f"{layout.manifest.name}-{now.strftime(_MOMENT)}-{os.getpid()}.json"


def write(path: Path, state: RunState) -> None:
    """Replace the state at ``path`` at once; after a power cut it may be an older one."""
    temporary = path.with_suffix(".tmp")
    temporary.write_text(state.model_dump_json(), encoding="utf-8")
    temporary.replace(path)


def read_all(folder: Path) -> list[tuple[Path, RunState]]:
    """Return what the runs of a data set have said last, the one that began last at the end.

    Raises:
        StatusUnreadable: a file is not what a run of this version writes.
    """
    found = [(path, state) for path in folder.glob("*.json") if (state := _read(path)) is not None]
    return sorted(found, key=lambda each: each[1].began_at)


def life_of(state: RunState, now: datetime) -> Life:
    """Tell whether the run lives: its process where this machine can see it, else its last word."""
    if state.ended_at is not None:
        return "ended"
    if state.owner.is_dead():
        return "died"
    return "runs" if (now - state.written_at).total_seconds() < SILENT_S else "silent"


def _read(path: Path) -> RunState | None:
    """Return what one run has said; None if a run that begins in this moment has cleared it away."""
    try:
        return RunState.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValidationError as error:
        raise StatusUnreadable(
            f"{path}: {error.error_count()} errors: delete it, it only tells how a run was"
        ) from error
