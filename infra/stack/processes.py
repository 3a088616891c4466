"""Which processes belong to a stack, and how they end. Never a stranger's: ours carry a mark that nobody else has."""

import ctypes
import os
import sys
from collections.abc import Collection, Iterable, Iterator

import psutil

MARK = "PRIVASIS_STACK_MARK"
_BECOME_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER of prctl(2)


def adopt_orphans() -> None:
    """Make this process the parent of every orphan below it, so that none gets out of sight; Linux only."""
    if sys.platform == "linux":
        libc = ctypes.CDLL(None, use_errno=True)
        if libc.prctl(_BECOME_SUBREAPER, 1, 0, 0, 0):
            number = ctypes.get_errno()
            raise OSError(number, f"prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(number)}")


def orphans(parts: Collection[int]) -> list[psutil.Process]:
    """Return what was adopted and everything below it; those that have ended are let go.

    Args:
        parts: our children that are no orphans.
    """
    found: list[psutil.Process] = []
    for process in psutil.Process().children():
        if process.pid in parts:
            continue
        if is_zombie(process):
            os.waitpid(process.pid, os.WNOHANG)  # until somebody asks for its exit status, it stays listed
        else:
            found += tree(process)
    return found


def marked(mark: str) -> list[psutil.Process]:
    """Return the processes of this user whose environment carries ``mark``, this one left out."""
    return [each for each in _others() if environment_of(each).get(MARK) == mark]


def environment_of(process: psutil.Process) -> dict[str, str]:
    """Return what a process was started with; nothing where it has ended, is another user's or wrote over it."""
    try:
        return process.environ()
    except (psutil.Error, OSError):
        return {}


def tree(process: psutil.Process) -> list[psutil.Process]:
    """Return a process and all below it."""
    try:
        return [process, *process.children(recursive=True)]
    except psutil.NoSuchProcess:
        return []


def end(processes: Iterable[psutil.Process], grace_s: float) -> None:
    """End processes: SIGTERM, and SIGKILL for those that are there after ``grace_s``."""
    alive = [each for each in processes if each.is_running() and not is_zombie(each)]
    for process in alive:
        _signal(process, terminate=True)
    _, left = psutil.wait_procs(alive, timeout=grace_s)
    for process in left:
        _signal(process, terminate=False)
    psutil.wait_procs(left, timeout=5)


def _signal(process: psutil.Process, *, terminate: bool) -> None:
    try:
        if terminate:
            process.terminate()
        else:
            process.kill()
    except psutil.NoSuchProcess:
        return


def _others() -> Iterator[psutil.Process]:
    me = psutil.Process()
    ours = me.username()
    for process in psutil.process_iter():
        try:
            if process.pid != me.pid and process.username() == ours:
                yield process
        except psutil.Error:
            continue


def is_zombie(process: psutil.Process) -> bool:
    """Tell whether a process has ended, listed or not."""
    try:
        return bool(process.status() == psutil.STATUS_ZOMBIE)
    except psutil.NoSuchProcess:
        return True
