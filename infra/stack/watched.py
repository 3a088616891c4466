"""One part while the stack lives: its process, how often it died, when it is started again."""

import subprocess
import time
from collections.abc import Callable

import psutil

from infra.stack.parts import Part
from infra.stack.processes import end, tree
from infra.stack.state import PartState, ProcessId

READY_WITHIN_S = 300.0  # 6 s of one core, more when the database is new; a machine may have much else to do
LONG_S = 60.0  # who lived that long starts afresh with the shortest wait
LONGEST_WAIT_S = 60.0


class Watched:
    """A part, and what became of it.

    Attributes:
        was_ready: it has been, once.
        ended: how it ended the last time.
    """

    def __init__(self, part: Part, clock: Callable[[], float] = time.monotonic) -> None:
        self.part = part
        self.was_ready = False
        self.ended = ""
        self._clock = clock
        self._child: subprocess.Popen[bytes] | None = None
        self._process: psutil.Process | None = None
        self._ready = False
        self._restarts = 0
        self._failures = 0  # in a row
        self._since = 0.0
        self._due = 0.0

    @property
    def is_up(self) -> bool:
        """Whether its process runs, as far as was looked."""
        return self._child is not None

    @property
    def is_ready(self) -> bool:
        """Whether it serves."""
        return self._ready

    @property
    def is_due(self) -> bool:
        """Whether it is to be started now."""
        return self._child is None and self._clock() >= self._due

    @property
    def is_hopeless(self) -> bool:
        """Whether it never came up, however often it may be tried."""
        return self._child is None and not self.was_ready and self._failures >= self.part.tries

    @property
    def pid(self) -> int | None:
        """Of its process, if there is one."""
        return None if self._child is None else self._child.pid

    def start(self) -> None:
        """Start it, the first time or again."""
        self._restarts += bool(self.ended)
        self._child = self.part.start()
        self._process = psutil.Process(self._child.pid)
        self._since = self._clock()

    def look(self) -> bool:
        """Find out whether it ended or got ready since the last look, and tell whether anything is new."""
        if self._child is None or self._process is None:
            return False
        status = self._child.poll()
        if status is not None:
            self._note(f"signal {-status}" if status < 0 else f"exit status {status}")
            return True
        if self._ready:
            return False
        if self.part.is_ready(self._process):
            self._ready = self.was_ready = True
            return True
        if self._clock() - self._since > READY_WITHIN_S:
            self.stop()
            self._note(f"not ready within {READY_WITHIN_S:g} s")
            return True
        return False

    def give_up(self, why: str) -> None:
        """End a process that runs and does not serve, so that it is started again."""
        self.stop()
        self._note(why)

    def stop(self) -> None:
        """End it and all below it; twice does no harm."""
        if self._child is None or self._process is None:
            return
        below = tree(self._process)[1:]
        for _ in range(self.part.signals):
            self._child.terminate()
            try:
                self._child.wait(self.part.grace_s)
                break
            except subprocess.TimeoutExpired:
                continue
        self._child.kill()
        self._child.wait()
        end([each for each in below if each.is_running()], grace_s=2)
        self._child = self._process = None
        self._ready = False

    def state(self) -> PartState:
        """Return what there is to say about it."""
        process = None
        if self._process is not None:
            try:
                process = ProcessId.of(self._process)
            except psutil.NoSuchProcess:  # seen at the next look
                process = None
        return PartState(
            name=self.part.name,
            address=self.part.address,
            log=self.part.log,
            process=process,
            ready=self._ready,
            restarts=self._restarts,
            ended=self.ended,
        )

    def _note(self, how: str) -> None:
        now = self._clock()
        self._failures = 1 if now - self._since > LONG_S else self._failures + 1
        self._due = now + min(2.0 ** (self._failures - 1), LONGEST_WAIT_S)
        self.ended = how
        self._child = self._process = None
        self._ready = False
