"""What the supervisor writes down, and everybody else reads: which parts there are, and which processes they are."""

from pathlib import Path
from typing import Literal, Self

import psutil
from pydantic import BaseModel, ConfigDict

from infra.stack.config import StackConfig

_SAME_S = 2.0  # the kernel's clock and ours may be that much apart when time is corrected


class ProcessId(BaseModel):
    """A process, told apart from a later one of the same number by when it started."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pid: int
    started: float  # seconds since the epoch

    @classmethod
    def of(cls, process: psutil.Process) -> Self:
        """Return the identity of a process.

        Raises:
            psutil.NoSuchProcess: it has ended.
        """
        return cls(pid=process.pid, started=process.create_time())

    def find(self) -> psutil.Process | None:
        """Return the process if it still runs; None for a stranger that has its number now."""
        try:
            process = psutil.Process(self.pid)
            alive = process.status() != psutil.STATUS_ZOMBIE
            return process if alive and abs(process.create_time() - self.started) < _SAME_S else None
        except psutil.NoSuchProcess:
            return None


class PartState(BaseModel):
    """One part of the stack.

    Attributes:
        process: None while it is not up.
        restarts: how often it was started again.
        ended: how it ended the last time, empty if it never did.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    address: str
    log: Path
    process: ProcessId | None = None
    ready: bool = False
    restarts: int = 0
    ended: str = ""


class StackState(BaseModel):
    """The whole stack.

    Attributes:
        mark: a word that only processes of this stack carry in their environment, see ``infra.stack.processes``.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    supervisor: ProcessId
    mark: str
    phase: Literal["starting", "ready", "stopping", "failed"]
    message: str = ""
    config: StackConfig
    parts: tuple[PartState, ...] = ()

    def write(self, file: Path) -> None:
        """Write it whole, or not at all."""
        draft = file.with_suffix(".new")
        draft.write_text(self.model_dump_json(indent=1) + "\n", encoding="utf-8")
        draft.replace(file)


def read_state(file: Path) -> StackState | None:
    """Return what was written last; None where nothing was.

    Raises:
        ValueError: another release has written it, or it is damaged.
    """
    try:
        return StackState.model_validate_json(file.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except ValueError as error:
        raise ValueError(
            f"{file} is not what this release writes: end its stack with the release that started it, then delete it"
        ) from error
