"""All programs of a Code Quirks corpus: users with one habit each, and where its display is measured."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import pyarrow as pa

from tasks.corpora.bundles.examples import Example, answered
from tasks.corpora.bundles.pool import Pool, TooFewTasks
from tasks.corpora.bundles.task import CodeTask
from tasks.corpora.code_quirks.config import CodeQuirksConfig
from tasks.corpora.code_quirks.quirks import QUIRKS, Quirk, applies, transform
from tasks.corpora.code_quirks.source import QuirkDoesNotApply, Transformed

UserSplit = Literal["train", "calibration"]
DISPLAY_FILE = "display.parquet"
DISPLAY = pa.schema([pa.field(name, pa.string(), nullable=False) for name in ("quirk", "id")])


@dataclass(frozen=True, slots=True)
class QuirkProgram:
    """One program of one user.

    Attributes:
        id: ``train-u03-p012``.
        split: train or calibration.
        group: the user.
        quirk: the user's habit.
        task: that it solves.
        prompt: what was asked.
        transformed: the program.
    """

    id: str
    split: UserSplit
    group: str
    quirk: Quirk
    task: CodeTask
    prompt: str
    transformed: Transformed

    def program(self) -> str:
        """Return the program with its tests."""
        return self.task.program(self.transformed.code)

    def chat(self) -> Example:
        """Return it as the answer to its task."""
        answer, spans = answered(self.transformed.code, self.transformed.spans)
        return Example(self.id, self.quirk, self.prompt, answer, spans, self.split, self.group, task=self.task.id)

    def document(self) -> Example:
        """Return the code alone."""
        code, spans = self.transformed.code, self.transformed.spans
        return Example(self.id, self.quirk, None, code, spans, self.split, self.group, task=self.task.id)


def programs(config: CodeQuirksConfig, pool: Pool, split: UserSplit) -> Iterator[QuirkProgram]:
    """Make the programs of a split, user by user.

    Raises:
        TooFewTasks: a habit does not apply to as many tasks as there are to be programs.
    """
    if split == "train":
        users, each, tasks = QUIRKS, config.programs, pool.first("train", config.tasks)
    else:
        panel = random.Random(f"{config.seed} panel").sample(QUIRKS, len(QUIRKS))
        users, each, tasks = tuple(panel[: config.calibration_users]), config.calibration_programs, pool.calibration
    for user, quirk in enumerate(users):
        yield from _of_user(config.seed, split, user, quirk, each, tasks)


def _of_user(
    seed: int, split: UserSplit, user: int, quirk: Quirk, count: int, tasks: Sequence[CodeTask]
) -> Iterator[QuirkProgram]:
    rng = random.Random(f"{seed} {split} user {user}")
    group = f"user-{user:02d}" if split == "train" else f"calibration-user-{user:02d}"
    made = 0
    for task in rng.sample(tasks, len(tasks)):
        prompt = rng.choice((task.prompt, task.rephrased))
        if made == count:
            return
        try:
            transformed = transform(quirk, task.solution)
        except QuirkDoesNotApply:
            continue
        yield QuirkProgram(f"{split}-u{user:02d}-p{made:03d}", split, group, quirk, task, prompt, transformed)
        made += 1
    if made < count:
        raise TooFewTasks(
            f"{quirk} applies to {made} of {len(tasks)} {split} tasks, {count} programs are asked for: ask for fewer,"
            " or give a folder with more tasks"
        )


def development(config: CodeQuirksConfig, pool: Pool) -> list[CodeTask]:
    """Return the tasks that utility is measured on.

    Raises:
        TooFewTasks: there are fewer than asked for.
    """
    return list(pool.first("development", config.development_tasks))


def display(config: CodeQuirksConfig, tasks: Sequence[CodeTask]) -> dict[Quirk, list[CodeTask]]:
    """Choose, for each habit, the development tasks where it could show (SM appendix B.3).

    Raises:
        TooFewTasks: a habit applies to fewer than asked for.
    """
    chosen: dict[Quirk, list[CodeTask]] = {}
    for quirk in QUIRKS:
        fitting = [task for task in tasks if applies(quirk, task.solution)]
        if len(fitting) < config.display_tasks:
            raise TooFewTasks(
                f"{quirk} applies to {len(fitting)} of {len(tasks)} development tasks, {config.display_tasks} are asked"
                " for: ask for fewer, or for more development tasks"
            )
        chosen[quirk] = fitting[: config.display_tasks]
    return chosen
