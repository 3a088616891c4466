"""Which answers do what was asked for: they are run with the task's hidden tests (SM B.2, B.3).

An answer's code and the tests make one module, as the corpus says. It is not run as ``__main__``: code that a script
keeps for that name stays still. A random mark at the end tells a program that got there from one that left before.
Nothing of an answer is parsed in our own process.
"""

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

from tasks.corpora.bundles.task import code_of
from tasks.measuring.proportions import Proportion, at_least_once

Ending = Literal["passed", "assertion", "error", "syntax", "time", "memory", "left_early", "killed"]
ENDINGS: tuple[Ending, ...] = get_args(Ending)

_HARNESS = """\
import os, sys, types
module = types.ModuleType("solution")
sys.modules["solution"] = module
told = "passed"
try:
    code = compile({source!r}, "solution.py", "exec")
except (SyntaxError, ValueError, RecursionError, MemoryError):
    code, told = "", "syntax"
try:
    exec(code, module.__dict__)
except AssertionError:
    told = "assertion"
except MemoryError:
    told = "memory"
except (SystemExit, KeyboardInterrupt):
    told = "left_early"
except BaseException as error:
    told = "error " + type(error).__name__
os.write(1, ("\\n" + {mark!r} + told + "\\n").encode("ascii", "replace"))
os._exit(0)
"""


class Ran(Protocol):
    """How a program ended, as ``infra.sandbox.run.Outcome`` tells it."""

    @property
    def kind(self) -> str:
        """One of ``passed``, ``failed``, ``timeout``, ``killed``."""
        ...

    @property
    def stdout(self) -> str:
        """Its output."""
        ...

    @property
    def seconds(self) -> float:
        """Wall time."""
        ...


Run = Callable[[str], Ran]


@dataclass(frozen=True, slots=True)
class Verdict:
    """How one answer did.

    Attributes:
        ending: ``passed``, or why it did not: a test is wrong (``assertion``), another exception (``error``), no Python
            (``syntax``), a limit of time or memory, it ended before the tests did (``left_early``), by a signal
            (``killed``).
        detail: the exception's name, else empty.
        seconds: wall time of the run.
    """

    ending: Ending
    detail: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Judged:
    """One prompt with the verdicts on its answers."""

    id: str
    task: str
    verdicts: tuple[Verdict, ...]

    @property
    def passes(self) -> int:
        """How many answers passed."""
        return sum(verdict.ending == "passed" for verdict in self.verdicts)


@dataclass(frozen=True, slots=True)
class PassRate:
    """pass@k.

    Attributes:
        k: number of answers.
        first: prompts of which one of the first k answers passes (SM B.2).
        expected: mean over prompts of the chance that k of all answers, whichever, hold one that passes.
    """

    k: int
    first: Proportion
    expected: float


@dataclass(frozen=True, slots=True)
class Passing:
    """The pass rates of a set of prompts, and how all their answers ended."""

    rates: tuple[PassRate, ...]
    endings: Mapping[Ending, int]


def judge_answer(answer: str, tests: str, run: Run) -> Verdict:
    """Run the code of an answer with its tests.

    Args:
        answer: as the model gave it: its first fenced block, or all of it.
        tests: statements that follow the code in its module.
        run: runs a program in a sandbox.
    """
    mark = secrets.token_hex(16)
    ran = run(_HARNESS.format(source=f"{code_of(answer)}\n\n{tests}", mark=mark))
    ending, _, detail = _ending(ran, mark).partition(" ")
    return Verdict(ending if ending in ENDINGS else "error", detail, ran.seconds)


def _ending(ran: Ran, mark: str) -> str:
    match ran.kind:
        case "timeout":
            return "time"
        case "killed":
            return "killed"
        case _:
            _, found, told = ran.stdout.rpartition(mark)
            return told.split("\n", 1)[0] if found else "left_early"


def passing(judged: Sequence[Judged], most: int) -> Passing:
    """Work out pass@k for each k from 1 to ``most``.

    Raises:
        ValueError: a prompt has fewer answers.
    """
    rates = tuple(_rate(judged, k) for k in range(1, most + 1))
    counted = Counter(verdict.ending for each in judged for verdict in each.verdicts)
    return Passing(rates, {ending: counted[ending] for ending in ENDINGS if counted[ending]})


def _rate(judged: Sequence[Judged], k: int) -> PassRate:
    chances = [at_least_once(len(each.verdicts), each.passes, k) for each in judged]
    first = sum(any(verdict.ending == "passed" for verdict in each.verdicts[:k]) for each in judged)
    return PassRate(k, Proportion.counted(first, len(judged)), sum(chances) / len(chances) if chances else 0.0)
