"""Measurements at their edge: shards that are committed whole, so that a killed run goes on where it stood.

Everything about one model is in one folder, a table a measurement. A shard that was made with other settings, another
model or other inputs is made anew.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from infra.sandbox.run import Limits, run_python
from infra.shards.heartbeat import heartbeat
from infra.shards.manifest import ShardSummary
from infra.shards.off_loop import off_loop
from infra.shards.plan import plan
from infra.shards.ranges import ShardRange
from infra.shards.spec import spec_hash
from infra.shards.store import LEASE_TTL_S, StageStore
from tasks.measuring import tables
from tasks.measuring.answers import Answerer, AnswerSettings, Question
from tasks.measuring.extraction.attack import ExtractionResult, ExtractionSettings, attack, result_of
from tasks.measuring.extraction.targets import Split, Target
from tasks.measuring.sampling import Sampler
from tasks.measuring.utility.gold import GoldNll, gold_nll
from tasks.measuring.utility.passing import Judged, judge_answer
from tasks.training.examples import Example

VERSION = 2  # of what the rows mean

TARGETS_A_SHARD = 25
PROMPTS_A_SHARD = 32
JUDGED_A_SHARD = 64


class MeasuredOtherwise(Exception):
    """A folder holds measurements of more than was asked for now. The message says what to do."""


@dataclass(frozen=True)
class _Stage:
    """One table under a folder.

    Attributes:
        output: the folder.
        name: of stage and table.
        schema: of the table.
        id_column: tells its rows apart.
        rows: in each shard but the last.
    """

    output: Path
    name: str
    schema: pa.Schema
    id_column: str
    rows: int

    @property
    def store(self) -> StageStore:
        home = self.output.resolve()
        return StageStore(home.parent, home.name, self.name, {self.name: self.schema}, id_column=self.id_column)

    def measure(self, inputs: Sequence[str], spec: str, make: Callable[[ShardRange], list[tables.Row]]) -> None:
        """Make the rows that are missing or stale.

        Args:
            inputs: fingerprint of what each row is made from.
            spec: of all that shapes the rows but that.
            make: the rows of a shard.

        Raises:
            MeasuredOtherwise: the folder holds rows beyond these.
            LeaseHeld: another process is at a shard.
        """
        store = self.store
        beyond = [shard for shard in store.manifest.shards() if shard.stop > len(inputs)]
        if beyond:
            raise MeasuredOtherwise(
                f"{self.output}: holds {self.name} up to row {beyond[-1].stop}, there are {len(inputs)} now: choose"
                " another folder for another corpus"
            )
        if not inputs:
            return
        store.sweep()

        def read(shard: ShardRange) -> Mapping[str, str]:
            return {"rows": spec_hash({"rows": list(inputs[shard.start : shard.stop])})}

        todo = plan(store, ShardRange(0, len(inputs)), self.rows, spec, read, "stale").todo
        asyncio.run(self._make_all(todo, spec, read, make))

    async def _make_all(
        self,
        todo: Sequence[ShardRange],
        spec: str,
        read: Callable[[ShardRange], Mapping[str, str]],
        make: Callable[[ShardRange], list[tables.Row]],
    ) -> None:
        store = self.store
        for shard in todo:
            async with off_loop(partial(store.acquire, shard)) as lease, heartbeat(lease, LEASE_TTL_S):
                rows = await asyncio.to_thread(make, shard)
                table = pa.Table.from_pylist([dict(row) for row in rows], self.schema)
                commit = partial(store.commit, spec_hash=spec, input_hashes=read(shard), summary=ShardSummary())
                await asyncio.to_thread(commit, shard, {self.name: table}, lease, len(shard))

    def read(self) -> list[tables.Row]:
        rows: list[tables.Row] = self.store.read(self.name).to_pylist()
        return rows


def attack_model(
    output: Path,
    sampler: Sampler,
    targets: Sequence[Target],
    splits: Sequence[Split],
    settings: ExtractionSettings,
    start: int | None,
) -> ExtractionResult:
    """Attack what is not attacked yet under ``output``, and return the result of all; see ``attack``.

    Raises:
        MeasuredOtherwise: the folder holds attempts at more values.
        ValueError: a value has one token, and there is no start token.
    """
    stage = _Stage(output, "attempts", tables.ATTEMPTS, "target_id", TARGETS_A_SHARD)

    def make(shard: ShardRange) -> list[tables.Row]:
        here = slice(shard.start, shard.stop)
        attempts = attack(sampler, targets[here], splits[here], settings, start=start)
        return [tables.attempt_row(shard.start + place, sampler.model, each) for place, each in enumerate(attempts)]

    inputs = [
        spec_hash({"id": target.id, "kind": target.kind, "revealed": split.revealed, "hidden": split.hidden})
        for target, split in zip(targets, splits, strict=True)
    ]
    drawn = settings.model_dump(include={"samples", "seed"})  # the others shape figures, not rows, or the tokens above
    stage.measure(inputs, _spec(stage, drawn | {"model": sampler.model, "start": start}), make)
    return result_of(sampler.model, settings, tables.attempts_of(stage.read()))


def write_answers(
    output: Path, answerer: Answerer, questions: Sequence[Question], settings: AnswerSettings
) -> dict[str, list[str]]:
    """Ask what is not answered yet under ``output``, and return all answers by the prompt's id.

    Raises:
        MeasuredOtherwise: the folder holds answers to more prompts.
        PromptUnusable: a prompt cannot be asked of this model.
    """
    stage = _Stage(output, "answers", tables.ANSWERS, "prompt_id", PROMPTS_A_SHARD)

    def make(shard: ShardRange) -> list[tables.Row]:
        asked = questions[shard.start : shard.stop]
        return [
            {
                "prompt_id": question.id,
                "index": shard.start + place,
                "task": question.task,
                "model": answerer.model,
                "answers": answers,
            }
            for place, (question, answers) in enumerate(zip(asked, answerer.answer(asked, settings), strict=True))
        ]

    inputs = [spec_hash({"id": each.id, "task": each.task, "prompt": each.prompt}) for each in questions]
    stage.measure(inputs, _spec(stage, settings.model_dump() | {"model": answerer.model}), make)
    return {row["prompt_id"]: list(row["answers"]) for row in stage.read()}


def judge_answers(
    output: Path, answers: Mapping[str, Sequence[str]], questions: Sequence[Question], limits: Limits, workers: int
) -> list[Judged]:
    """Run what was not run yet under ``output``, and return all verdicts in the order of the questions.

    Args:
        output: the folder.
        answers: by the prompt's id.
        questions: with their tests.
        limits: of each program.
        workers: programs that run at once.

    Raises:
        MeasuredOtherwise: the folder holds verdicts on more prompts.
        SandboxUnavailable: this system cannot confine programs.
    """
    stage = _Stage(output, "verdicts", tables.VERDICTS, "prompt_id", JUDGED_A_SHARD)

    def make(shard: ShardRange) -> list[tables.Row]:
        asked = questions[shard.start : shard.stop]
        with ThreadPoolExecutor(workers, thread_name_prefix="judge") as pool:
            running = [
                [
                    pool.submit(judge_answer, answer, question.tests, partial(run_python, limits=limits))
                    for answer in answers[question.id]
                ]
                for question in asked
            ]
            judged = [
                Judged(question.id, question.task, tuple(each.result() for each in verdicts))
                for question, verdicts in zip(asked, running, strict=True)
            ]
        return [tables.verdict_row(shard.start + place, each) for place, each in enumerate(judged)]

    inputs = [
        spec_hash({"id": each.id, "task": each.task, "tests": each.tests, "answers": list(answers[each.id])})
        for each in questions
    ]
    stage.measure(inputs, _spec(stage, limits.model_dump()), make)
    return tables.judged_of(stage.read())


def measure_gold(output: Path, lm: object, model: str, examples: Sequence[Example]) -> list[GoldNll]:
    """Score what is not scored yet under ``output``, and return the NLL of all examples in their order.

    Raises:
        MeasuredOtherwise: the folder holds more.
    """
    stage = _Stage(output, "gold", tables.GOLD, "example_id", PROMPTS_A_SHARD)

    def make(shard: ShardRange) -> list[tables.Row]:
        scored = gold_nll(lm, examples[shard.start : shard.stop])
        return [tables.gold_row(shard.start + place, model, each) for place, each in enumerate(scored)]

    inputs = [spec_hash({"id": each.id, "ids": each.ids.tolist(), "labels": each.labels.tolist()}) for each in examples]
    stage.measure(inputs, _spec(stage, {"model": model}), make)
    return tables.gold_of(stage.read())


def _spec(stage: _Stage, shaped_by: Mapping[str, object]) -> str:
    return spec_hash(shaped_by, {"schema": str(stage.schema), "version": VERSION})
