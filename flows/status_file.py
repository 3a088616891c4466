"""The files in which runs say how they are: one a run, in the data set's folder, replaced every second."""

import fnmatch
import os
from datetime import datetime
from typing import Literal

from pydantic import ValidationError

from flows.config import ConfigError
from infra.run_state import RunState
from infra.shards import files
from infra.shards.layout import Layout
from infra.shards.location import Location, ObjectPath

FOLDER = "status"
EVERY_S, EVERY_S_IN_STORE = 1.0, 10.0
_MOMENT, _ANY_MOMENT = "%Y%m%dT%H%M%S", "????????T??????"
SILENT_S = 30.0  # without a word; it writes every second or ten, unless all workers are slow to answer

Life = Literal[
    "runs",
    "ended",  # and has said so
    "died",  # its process is gone and has not
    "silent",  # it has said nothing for long, and this machine cannot see whether it lives
]


class StatusUnreadable(ConfigError):
    """A file in which a run says how it is cannot be read."""


def begin(layout: Layout, now: datetime) -> Location:
    """Clear away what ended runs of the stage have said, and return where this one says how it is."""
    folder = layout.manifest.parents[1] / FOLDER
    files.make_folder(folder)
    for name in fnmatch.filter(files.names(folder), f"{layout.manifest.name}-{_ANY_MOMENT}-*.json"):
        path = folder / name
        try:
            over = (state := _read(path)) is None or life_of(state, now) != "runs"
        except StatusUnreadable:  # of another version: nobody can read what it says
            over = True
        if over:
            files.delete(path)
    return folder / f"{layout.manifest.name}-{now.strftime(_MOMENT)}-{os.getpid()}.json"


def every_s(path: Location) -> float:
    """Return how often a run says there how it is: each time is a paid request where it is in an object store."""
    return EVERY_S_IN_STORE if isinstance(path, ObjectPath) else EVERY_S


def write(path: Location, state: RunState) -> None:
    """Replace the state at ``path`` at once; after a power cut it may be an older one."""
    files.put(path, state.model_dump_json().encode(), durable=False)


def read_all(folder: Location) -> list[tuple[Location, RunState]]:
    """Return what the runs of a data set have said last, the one that began last at the end.

    Raises:
        StatusUnreadable: a file is not what a run of this version writes.
    """
    paths = [folder / name for name in files.names(folder) if name.endswith(".json")]
    found = [(path, state) for path in paths if (state := _read(path)) is not None]
    return sorted(found, key=lambda each: each[1].began_at)


def life_of(state: RunState, now: datetime) -> Life:
    """Tell whether the run lives: its process where this machine can see it, else its last word."""
    if state.ended_at is not None:
        return "ended"
    if state.owner.is_dead():
        return "died"
    return "runs" if (now - state.written_at).total_seconds() < SILENT_S else "silent"


def _read(path: Location) -> RunState | None:
    """Return what one run has said; None if a run that begins in this moment has cleared it away."""
    data = files.read(path)
    try:
        return None if data is None else RunState.model_validate_json(data)
    except ValidationError as error:
        raise StatusUnreadable(
            f"{path}: {error.error_count()} errors: delete it, it only tells how a run was"
        ) from error
