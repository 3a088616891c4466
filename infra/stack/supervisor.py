"""Starts the parts of a stack, watches them, starts the dead again, and ends them all in order."""

import os
import secrets
import signal
import time
from collections.abc import Callable, Mapping
from types import FrameType

import psutil

from infra.stack.config import StackConfig
from infra.stack.folder import StackFolder
from infra.stack.logs import cut_logs
from infra.stack.lost_runs import cancel_runs, look_after_runs, settle_lost_runs
from infra.stack.parts import SERVER, WORKER, api_of, parts_of
from infra.stack.pools import LOCAL_POOL
from infra.stack.prefect_api import ApiAway, ApiRefused
from infra.stack.processes import adopt_orphans, end, orphans
from infra.stack.ray_head import clear_temporary_folder
from infra.stack.registration import RegistrationFailed, register
from infra.stack.state import ProcessId, StackState
from infra.stack.watched import Watched

LOOK_S = 0.5
HEALTH_S = 5.0
ROUND_S = 5.0
SILENT_S = 60.0  # a server that does not answer for so long is started again
CANCEL_WITHIN_S = 25.0  # of the 30 s in which `down` ends what runs
ORPHAN_GRACE_S = 10.0  # a run without its worker: enough to say that it crashed


class StackFailed(Exception):
    """A part did not come up the first time; the message has the end of its log."""


class Supervisor:
    """The one process that has a stack's parts as children.

    Args:
        config: what to start.
        say: hears a line for each thing that happens.
    """

    def __init__(self, config: StackConfig, say: Callable[[str], None]) -> None:
        self._config = config
        self._folder = StackFolder(config.home)
        self._say = say
        self._mark = secrets.token_hex(16)
        inherited: Mapping[str, str] = dict(os.environ)
        self._watched = {part.name: Watched(part) for part in parts_of(config, self._mark, inherited)}
        self._api = api_of(config)
        self._signal: int | None = None
        self._phase = "starting"
        self._message = ""
        self._unsettled = True  # what an earlier stack of this folder left when the machine went down
        self._health_at = self._healthy_at = self._round_at = time.monotonic()

    def run(self) -> None:
        """Have the stack up until SIGTERM or Ctrl-C.

        Raises:
            StackBusy: another supervisor has the folder.
            StackFailed: it did not come up.
        """
        before = [(number, signal.signal(number, self._hear)) for number in (signal.SIGTERM, signal.SIGINT)]
        try:
            with self._folder.held():
                adopt_orphans()
                self._supervise()
        finally:
            for number, handler in before:
                signal.signal(number, handler)

    def _hear(self, number: int, _: FrameType | None) -> None:
        self._signal = number

    def _supervise(self) -> None:
        try:
            self._write()
            self._come_up()
            while self._signal is None:
                self._tick()
                time.sleep(LOOK_S)
        except (StackFailed, RegistrationFailed) as error:
            self._message = str(error)
            raise StackFailed(self._message) from error
        finally:
            self._go_down()

    def _come_up(self) -> None:
        first = [watched for name, watched in self._watched.items() if name != WORKER]
        for watched in first:
            self._start(watched)
        self._wait(first)
        if self._signal is not None:
            return
        worker = self._watched[WORKER]
        self._say("registering pools and deployments")
        environment, log = dict(worker.part.environment), self._folder.logs / "deploy.log"
        register(self._api, self._config, environment, log, given_up=lambda: self._signal is not None)
        if self._signal is not None:
            return
        self._settle()
        self._start(worker)
        self._wait([worker])
        if self._signal is None:
            self._phase = "ready"
            self._say("ready")
            self._write()

    def _wait(self, parts: list[Watched]) -> None:
        while self._signal is None and not all(watched.is_ready for watched in parts):
            for watched in parts:
                if watched.look():
                    if not watched.is_up:
                        self._clear(watched)
                    self._write()
                if watched.is_due and not watched.is_hopeless:
                    self._start(watched)
                if watched.is_hopeless:
                    log = watched.part.log
                    tail = "\n".join(log.read_text(encoding="utf-8", errors="replace").splitlines()[-20:])
                    raise StackFailed(f"the {watched.part.name} did not come up ({watched.ended}); {log}:\n{tail}")
            time.sleep(LOOK_S)

    def _tick(self) -> None:
        for watched in self._watched.values():
            if watched.look():
                self._say(f"{watched.part.name}: {'ready again' if watched.is_ready else watched.ended}")
                if not watched.is_up:
                    self._clear(watched)
                self._write()
        self._check_server()
        for watched in self._watched.values():
            if watched.is_due and self._may_start(watched):
                self._start(watched)
        if time.monotonic() - self._round_at > ROUND_S:
            self._round_at = time.monotonic()
            cut_logs(self._folder.logs)
            self._look_after_runs()

    def _start(self, watched: Watched) -> None:
        self._say(f"{watched.part.name}: starting")
        watched.start()
        self._write()

    def _clear(self, watched: Watched) -> None:
        """End what a dead part leaves behind; what its runs were is told to the server."""
        if left := orphans(self._pids()):
            self._say(f"{watched.part.name}: ending {len(left)} processes that it left")
            end(left, ORPHAN_GRACE_S if watched.part.name == WORKER else 2)
            orphans(self._pids())
        self._unsettled |= watched.part.name == WORKER

    def _may_start(self, watched: Watched) -> bool:
        """Let a worker wait for the server, and for the runs of the one before to be settled."""
        if watched.part.name != WORKER:
            return True
        if not self._watched[SERVER].is_ready:
            return False
        self._settle()
        return not self._unsettled

    def _settle(self) -> None:
        if not self._unsettled:
            return
        try:
            if lost := settle_lost_runs(self._api, LOCAL_POOL):
                self._say(f"{lost} runs had lost their process")
        except (ApiAway, ApiRefused) as error:
            self._say(f"the server does not take what became of lost runs: {error}")
        else:
            self._unsettled = False

    def _look_after_runs(self) -> None:
        if not self._watched[SERVER].is_ready:
            return
        try:
            look_after_runs(self._api, self._say)
        except (ApiAway, ApiRefused) as error:
            self._say(f"runs cannot be looked after: {error}")

    def _check_server(self) -> None:
        server, now = self._watched[SERVER], time.monotonic()
        if not server.is_ready:
            self._healthy_at = now
            return
        if now - self._health_at < HEALTH_S:
            return
        self._health_at = now
        if self._api.is_up():
            self._healthy_at = now
        elif now - self._healthy_at > SILENT_S:
            server.give_up(f"no answer for {SILENT_S:g} s")
            self._say(f"{SERVER}: {server.ended}")
            self._write()

    def _go_down(self) -> None:
        failed = self._message
        self._phase = "stopping"
        self._write()
        if self._watched[SERVER].is_ready and self._watched[WORKER].is_up:
            self._end_runs()
        for watched in reversed(list(self._watched.values())):
            self._say(f"{watched.part.name}: ending")
            watched.stop()
            end(orphans(self._pids()), 2)
            if watched.part.name == WORKER and self._watched[SERVER].is_ready:
                self._unsettled = True
                self._settle()
        if self._config.ray_address is None:
            clear_temporary_folder(self._config)
        if failed:
            self._phase = "failed"
            self._write()
        else:
            self._folder.state.unlink(missing_ok=True)

    def _end_runs(self) -> None:
        until, told = time.monotonic() + CANCEL_WITHIN_S, 0
        try:
            while (left := cancel_runs(self._api, LOCAL_POOL)) and time.monotonic() < until:
                if left != told:
                    self._say(f"waiting for {left} runs to end, {CANCEL_WITHIN_S:g} s at most")
                told = left
                time.sleep(1)
        except (ApiAway, ApiRefused) as error:
            self._say(f"runs cannot be cancelled: {error}")

    def _pids(self) -> set[int]:
        return {watched.pid for watched in self._watched.values() if watched.pid is not None}

    def _write(self) -> None:
        StackState(
            supervisor=ProcessId.of(psutil.Process()),
            mark=self._mark,
            phase=self._phase,
            message=self._message,
            config=self._config,
            parts=tuple(watched.state() for watched in self._watched.values()),
        ).write(self._folder.state)
