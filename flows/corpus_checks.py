"""Runs the programs of a corpus before they are written: confined, some at once, and each only until it has passed."""

import hashlib
import secrets
import sys
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from infra.sandbox.run import Limits, run_python

# Run as a module, as answers are judged: what a script keeps for ``__main__`` stays still. Only a program that gets to
# its end tells the mark: one that leaves before, with status 0, has not passed its tests.
_TO_ITS_END = """\
import os, sys, types
module = sys.modules["checked"] = types.ModuleType("checked")
exec(compile({program!r}, "checked.py", "exec"), module.__dict__)
os.write(1, b"\\n{mark}")
os._exit(0)
"""

LIMITS = Limits(wall_s=60, cpu_s=20)  # a busy machine may take three times as long
_REPAIR = "Repair the task, or leave it out"


class ProgramFailed(ValueError):
    """A program of a corpus does not pass its own tests; the message names it and says how it ended."""


@dataclass(frozen=True, slots=True)
class Check:
    """A program that must end well, and what it is a check of."""

    name: str
    program: str

    @property
    def sha256(self) -> str:
        """Of the program, of how it is run, and of the Python that runs it."""
        told = f"{sys.version}\n{_TO_ITS_END}\n{self.program}"
        return hashlib.sha256(told.encode("utf-8", "surrogatepass")).hexdigest()


class Passed:
    """The hashes of programs that have passed, in a file that grows by a line each."""

    def __init__(self, path: Path) -> None:
        """Read what has passed before; a line that was torn when a run was killed is no hash, and is left out."""
        self._path = path
        lines = path.read_text(encoding="ascii").splitlines() if path.exists() else []
        self._hashes = {line for line in lines if len(line) == hashlib.sha256().digest_size * 2}

    def __contains__(self, sha256: str) -> bool:
        return sha256 in self._hashes

    def add(self, sha256: str) -> None:
        """Note a program that has passed."""
        self._hashes.add(sha256)
        with self._path.open("a", encoding="ascii") as file:
            file.write(f"\n{sha256}\n")  # on a line of its own, whatever a killed run left


def run_checks(checks: Iterable[Check], passed: Passed, workers: int, tell: Callable[[int], None]) -> int:
    """Run what has not passed yet, ``workers`` at once; stop at the first that fails.

    Args:
        checks: what to run; taken as the work goes on.
        passed: what need not run; grows.
        workers: programs at once.
        tell: called with the number that ran so far.

    Returns:
        How many programs ran.

    Raises:
        ProgramFailed: one does not pass.
        SandboxUnavailable: this system cannot confine programs.
    """
    ran = 0
    todo = (check for check in checks if check.sha256 not in passed)
    with ThreadPoolExecutor(workers) as pool:
        for sha256 in _ran(pool, todo, 2 * workers):
            passed.add(sha256)
            ran += 1
            tell(ran)
    return ran


def _ran(pool: ThreadPoolExecutor, todo: Iterator[Check], ahead: int) -> Iterator[str]:
    """Yield the hash of each program that passed, in order, with a few under way."""
    waiting: list[Future[str]] = [pool.submit(_run, check) for check in islice(todo, ahead)]
    try:
        while waiting:
            yield waiting.pop(0).result()
            waiting += [pool.submit(_run, check) for check in islice(todo, 1)]
    finally:
        for future in waiting:
            future.cancel()


def _run(check: Check) -> str:
    mark = secrets.token_hex(16)
    outcome = run_python(_TO_ITS_END.format(program=check.program, mark=mark), LIMITS)
    if outcome.kind != "passed":
        last = outcome.stderr.strip().rpartition("\n")[2] or "it says nothing"
        raise ProgramFailed(
            f"{check.name}: {outcome.kind} with status {outcome.status} after {outcome.seconds:.1f} s: {last}."
            f" {_REPAIR}"
        )
    if not outcome.stdout.endswith(mark):
        raise ProgramFailed(f"{check.name}: it ended before its tests did (sys.exit, os._exit, ...). {_REPAIR}")
    return check.sha256
