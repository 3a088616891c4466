"""The processes below another, as the kernel tells them: for tests that end one and see what becomes of the rest."""

import time
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True)
class Found:
    """A process, told apart from a later one of the same number by when it started."""

    pid: int
    parent: int
    started: str
    command: str


def below(pid: int) -> list[Found]:
    """Return every process that ``pid`` or one of its children has started, those that are ending left out."""
    found = {each.pid: each for entry in _PROC.iterdir() if entry.name.isdecimal() and (each := _read(int(entry.name)))}

    def descends(each: Found | None) -> bool:
        return each is not None and (each.parent == pid or descends(found.get(each.parent)))

    return [each for each in found.values() if descends(each)]


def the_one(found: list[Found], name: str) -> Found:
    """Return the process whose command line holds ``name``."""
    (one,) = [each for each in found if name in each.command]
    return one


def left_after(found: list[Found], within_s: float) -> list[Found]:
    """Wait for processes to end by themselves, and return those that did not in time."""
    end = time.monotonic() + within_s
    while left := [each for each in found if is_running(each)]:
        if time.monotonic() > end:
            break
        time.sleep(0.1)
    return left


def is_running(process: Found) -> bool:
    now = _read(process.pid)
    return now is not None and now.started == process.started


def _read(pid: int) -> Found | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
        command = (_PROC / str(pid) / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    fields = stat.rpartition(")")[2].split()  # the name before it may hold blanks and parentheses
    state, parent, started = fields[0], int(fields[1]), fields[19]  # fields 3, 4 and 22 of proc_pid_stat(5)
    return None if state in "ZX" else Found(pid, parent, started, command)
