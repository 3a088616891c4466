"""Who holds a lease, and whether that process is known to be dead."""

import os
import socket
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict

_PROC = Path("/proc")


class Owner(BaseModel):
    """A process, told apart from an earlier one with the same number.

    Attributes:
        host: the host's name, for people.
        place: the running kernel and its process namespace; only there ``pid`` means something. Empty where the
            system does not say (not Linux): then nobody can tell that the owner is dead.
        pid: the process.
        started: when it started, in the kernel's ticks; empty where unknown.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: str
    place: str
    pid: int
    started: str

    @classmethod
    def here(cls) -> Self:
        """Return this process."""
        pid = os.getpid()
        return cls(host=socket.gethostname(), place=_place(), pid=pid, started=_state_and_start(pid)[1])

    def is_dead(self) -> bool:
        """Tell whether the process is known to be dead; False where this process cannot know."""
        if not self.place or self.place != _place():
            return False
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:  # it lives, and belongs to somebody else
            pass
        state, started = _state_and_start(self.pid)
        # A killed process whose parent has not yet asked for its exit status is still listed, as Z.
        return state in ("Z", "X") or bool(started and started != self.started)

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host}"


def _place() -> str:
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text().strip()
        return f"{boot} {(_PROC / 'self/ns/pid').readlink()}"
    except OSError:  # no such files here: not Linux, or a closed sandbox
        return ""


def _state_and_start(pid: int) -> tuple[str, str]:
    """Return the state letter and the start time of ``pid``, both empty where they cannot be read."""
    try:
        stat = (_PROC / str(pid) / "stat").read_text()
    except OSError:
        return "", ""
    fields = stat.rpartition(")")[2].split()  # the name before it may hold blanks and parentheses
    return fields[0], fields[19]  # fields 3 and 22 of proc_pid_stat(5)
