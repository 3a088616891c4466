"""All tasks, divided once and for all into those for training, for calibration and for development."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tasks.corpora.bundles.families import (
    dates,
    graphs,
    intervals,
    letters,
    matrices,
    notations,
    numbers,
    parsing,
    sequences,
    tallies,
    text,
)
from tasks.corpora.bundles.task import CodeTask, shape

Split = Literal["train", "calibration", "development"]
FAMILIES = tuple(
    family
    for module in (text, letters, parsing, notations, intervals, tallies, dates, matrices, graphs, numbers, sequences)
    for family in module.FAMILIES
)

_SHARES = (0.65, 0.80)  # where calibration begins, and development


class TooFewTasks(ValueError):
    """A corpus asks for more tasks than there are."""


@dataclass(frozen=True)
class Pool:
    """The tasks of each split, in an order drawn by seed: what needs fewer takes the first."""

    train: Sequence[CodeTask]
    calibration: Sequence[CodeTask]
    development: Sequence[CodeTask]

    def first(self, split: Split, count: int) -> Sequence[CodeTask]:
        """Take the first tasks of a split.

        Raises:
            TooFewTasks: it has fewer.
        """
        tasks: Sequence[CodeTask] = getattr(self, split)
        if count > len(tasks):
            raise TooFewTasks(
                f"{count} tasks are asked for {split}, there are {len(tasks)}: ask for fewer,"
                " or give a folder with more"
            )
        return tasks[:count]


def own_tasks() -> list[CodeTask]:
    """Make the tasks of all families, in their order."""
    return [task for family in FAMILIES for task in family.tasks()]


def pool_of(tasks: Sequence[CodeTask], seed: int) -> Pool:
    """Divide tasks by seed; a task whose solution has the shape of an earlier one's is left out.

    So no program of one split is, names aside, a program of another (SM appendix A.2).
    """
    kept: dict[str, CodeTask] = {}
    for task in sorted(tasks, key=lambda task: task.id):
        kept.setdefault(shape(task.solution), task)
    drawn = list(kept.values())
    random.Random(f"{seed} pool").shuffle(drawn)
    first, second = (round(share * len(drawn)) for share in _SHARES)
    return Pool(drawn[:first], drawn[first:second], drawn[second:])
