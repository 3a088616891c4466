"""What a person does with a stack: start it in the background, look at it, end it."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

import psutil

from infra.ray.cluster import ClusterUnusable
from infra.stack.config import LOOPBACK, StackConfig
from infra.stack.folder import StackFolder
from infra.stack.processes import end, marked, tree
from infra.stack.ray_head import clear_temporary_folder, make_temporary_folder
from infra.stack.state import StackState, read_state
from infra.stack.supervisor import StackFailed

DOWN_WITHIN_S = 90.0  # runs 25 s, the worker 10, Ray and the server 15 each; as a rule ten seconds in all
_UP_WITHIN_S = 1800.0
FAILED = "failed: "  # begins the line of the supervisor's log that says why it ended


class PortTaken(Exception):
    """Something listens where a part wants to; the message names both."""


def state_of(home: Path) -> StackState | None:
    """Return what there is of the stack of ``home``: None if nothing of it runs."""
    state = read_state(StackFolder(home).state)
    return state if state is not None and (state.supervisor.find() or leftovers(state)) else None


def leftovers(state: StackState) -> list[psutil.Process]:
    """Return what a stack has started and still runs, without its supervisor."""
    recorded = [part.process.find() for part in state.parts if part.process is not None]
    found = {each.pid: each for process in recorded if process for each in tree(process)}
    return list((found | {each.pid: each for each in marked(state.mark) if each.pid != state.supervisor.pid}).values())


def prepare(config: StackConfig) -> None:
    """Make the folder, end what a killed supervisor left, and see that the ports are free.

    Raises:
        PortTaken: one is not.
        TemporaryFolderTaken: the Ray head's is another user's.
        ClusterUnusable: the cluster to be used does not answer.
        StackFailed: the folder cannot be made.
    """
    folder = StackFolder(config.home)
    state = read_state(folder.state)
    if state is not None and state.supervisor.find() is None:
        end(leftovers(state), grace_s=10)
        folder.state.unlink(missing_ok=True)
    for what, port in config.ports().items():
        _check_free(what, port)
    if config.ray_address is None:
        make_temporary_folder(config)
    else:
        _check_answers(config.ray_address)
    try:
        folder.make()
    except OSError as error:
        raise StackFailed(
            f"{config.home}, the folder of the stack, cannot be used ({error.strerror}): set PRIVASIS_HOME to another"
        ) from error
    (config.home / "wanted.json").write_text(config.model_dump_json(indent=1) + "\n", encoding="utf-8")


def start(config: StackConfig, environment: dict[str, str], tell: Callable[[str], None]) -> StackState:
    """Start a supervisor that outlives this process, and wait until the stack is ready.

    Args:
        config: what to start; `prepare` has been called.
        environment: of the supervisor; runs inherit it, so keys of models belong into it.
        tell: hears each line that the supervisor says.

    Raises:
        StackFailed: it did not get ready; nothing of it is left.
    """
    log = StackFolder(config.home).logs / "supervisor.log"
    with log.open("ab") as sink:
        begin = sink.tell()
        child = subprocess.Popen(
            [sys.executable, "-m", "infra.stack", str(config.home)],
            env=environment,
            cwd=config.home,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=sink,
            start_new_session=True,
        )
    until = time.monotonic() + _UP_WITHIN_S
    try:
        with log.open(encoding="utf-8") as lines:
            lines.seek(begin)
            while time.monotonic() < until:
                status = child.poll()
                _tell_new(lines, tell)
                state = read_state(StackFolder(config.home).state)
                if status is not None:
                    raise StackFailed(state.message if state and state.message else f"the supervisor ended: see {log}")
                if state is not None and state.supervisor.pid == child.pid and state.phase == "ready":
                    return state
                time.sleep(0.2)
    except BaseException:  # Ctrl-C, for instance: half a stack is of no use
        _end(child, config.home)
        raise
    _end(child, config.home)
    raise StackFailed(f"not ready within {_UP_WITHIN_S:g} s: see {log}")


def _end(supervisor: subprocess.Popen[bytes], home: Path) -> None:
    supervisor.terminate()
    try:
        supervisor.wait(DOWN_WITHIN_S)
    except subprocess.TimeoutExpired:
        supervisor.kill()
        supervisor.wait()
        if (state := read_state(StackFolder(home).state)) is not None:
            end(leftovers(state), grace_s=5)


def stop(state: StackState, tell: Callable[[str], None]) -> None:
    """End a stack: its supervisor ends runs and parts in order; what is left then is ended one by one."""
    supervisor = state.supervisor.find()
    if supervisor is not None:
        log = StackFolder(state.config.home).logs / "supervisor.log"
        with log.open(encoding="utf-8") as lines:
            lines.seek(0, 2)
            supervisor.terminate()
            until = time.monotonic() + DOWN_WITHIN_S
            while state.supervisor.find() is not None and time.monotonic() < until:
                _tell_new(lines, tell)
                time.sleep(0.2)
            _tell_new(lines, tell)
        end([supervisor], grace_s=0)
    end(leftovers(state), grace_s=5)
    if state.config.ray_address is None:
        clear_temporary_folder(state.config)
    StackFolder(state.config.home).state.unlink(missing_ok=True)


def _tell_new(lines: Iterable[str], tell: Callable[[str], None]) -> None:
    for line in lines:
        time_of, _, what = line.rstrip().partition(" ")
        # Of a failure the state has the message; its further lines have no time in front.
        if time_of[:1].isdigit() and not what.startswith(FAILED):
            tell(what)


def _check_free(what: str, port: int) -> None:
    try:
        socket.create_server((LOOPBACK, port)).close()
    except OSError as error:
        raise PortTaken(f"port {port}, for {what}, is taken{_by_whom(port)}") from error


def _check_answers(address: str) -> None:
    host, _, port = address.rpartition(":")
    try:
        socket.create_connection((host, int(port)), timeout=10).close()
    except (OSError, ValueError) as error:
        raise ClusterUnusable(
            f"nothing answers at PRIVASIS_RAY_ADDRESS={address} ({error}): unset it, and the stack gets a Ray head"
        ) from error


def _by_whom(port: int) -> str:
    try:
        pids = {each.pid for each in psutil.net_connections("tcp") if each.laddr and each.laddr.port == port}
        names = [f"{pid} ({psutil.Process(pid).name()})" for pid in sorted(filter(None, pids))]
    except psutil.Error:  # somebody else's process: the system does not say
        return ""
    return f" by process {', '.join(names)}" if names else ""
