"""How families of tasks are written down, and made into tasks.

A solution is text; what its tests expect comes from an ``oracle`` that is written a second time, as a function. So a
solution that passes was checked against something that is not itself.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tasks.corpora.bundles.task import CodeTask


@dataclass(frozen=True, slots=True)
class Draft:
    """One variation of a family.

    Attributes:
        signature: as the prompt gives it: ``count_words(text)``.
        does: what the function does, as it follows "that"; ends with a full stop.
        aim: the same in a few other words, as it follows "to"; what it leaves open ``does`` says.
        solution: a module.
        fault: text that stands once in the solution, and what a faulty solution has instead.
        inputs: arguments of each call that is tested.
        oracle: what a call must return.
    """

    signature: str
    does: str
    aim: str
    solution: str
    fault: tuple[str, str]
    inputs: Sequence[tuple[object, ...]]
    oracle: Callable[..., object]


@dataclass(frozen=True, slots=True)
class Family:
    """Tasks that differ by what stands in a grid of options.

    Attributes:
        name: of the family.
        grid: the values of each argument of ``make``.
        make: one variation.
    """

    name: str
    grid: Mapping[str, Sequence[object]]
    make: Callable[..., Draft]

    def tasks(self) -> Iterator[CodeTask]:
        """Make every variation, numbered in the order of the grid."""
        for number, values in enumerate(itertools.product(*self.grid.values())):
            yield task_of(f"{self.name}-{number:03d}", self.name, self.make(*values))


def task_of(id: str, family: str, draft: Draft) -> CodeTask:
    """Make a task of a draft.

    Raises:
        ValueError: the fault does not stand in the solution exactly once.
    """
    old, new = draft.fault
    if draft.solution.count(old) != 1:
        raise ValueError(f"task {id}: {old!r} stands {draft.solution.count(old)} times in the solution: once is needed")
    entry = draft.signature.partition("(")[0]
    return CodeTask(
        id=id,
        family=family,
        prompt=f"Write a Python function `{draft.signature}` that {draft.does}",
        rephrased=f"I need Python code to {draft.aim}. Call it `{draft.signature}`: it {draft.does}",
        entry=entry,
        solution=draft.solution,
        broken=draft.solution.replace(old, new),
        tests="".join(_check(entry, arguments, draft.oracle(*arguments)) for arguments in draft.inputs),
    )


def _check(entry: str, arguments: tuple[object, ...], expected: object) -> str:
    call = f"{entry}({', '.join(map(repr, arguments))})"
    return f"assert {call} {'is' if expected is None or isinstance(expected, bool) else '=='} {expected!r}\n"
