"""Small scoring runs in one process, by the scorer that can be computed by hand: no Prefect, no Ray, no model."""

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import orjson

from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.plan import Plan, Reprocess, plan
from infra.shards.ranges import ShardRange
from tasks.diversity.pool import Reservoir
from tasks.surprise.documents import Chat, Document, Interval
from tasks.surprise.policy import Reference
from tasks.surprise.reading.columns import Columns
from tasks.surprise.reading.find import parts_of
from tasks.surprise.reading.input import Input
from tasks.surprise.reference.steps import Opened, ReferenceModel
from tasks.surprise.scoring.scorer import PLAIN, Pass, Scored, Text
from tasks.surprise.shard import ChatUnfit, Rendered
from tasks.surprise.steps import ScoreJob, ScoreReceipt, input_hashes, make_scores
from tests.tasks.surprise.character_scorer import REFERENCE, CharacterScorer


class Died(Exception):
    """What a scorer raises where a test has it die."""


class MortalScorer(CharacterScorer):
    """Dies after so many texts."""

    def __init__(self, lives: int) -> None:
        super().__init__()
        self._lives = lives

    def score(self, texts: Sequence[Text], passes: Sequence[Pass]) -> Iterator[Scored]:
        for text, scored in zip(texts, super().score(texts, passes), strict=True):
            if self._lives == 0:
                raise Died(text)
            self._lives -= 1
            yield scored


def render(chat: Chat) -> Rendered:
    """Lay the contents end to end with a line break after each; answers are supervised; no two of one role."""
    text, supervised = "", []
    for turn, before in zip(chat.turns, [None, *chat.turns], strict=False):
        if before is not None and before.role == turn.role:
            raise ChatUnfit("two messages of one role")
        if turn.role == "assistant" and turn.content:
            supervised.append(Interval(len(text), len(text) + len(turn.content)))
        text += f"{turn.content}\n"
    document = Document(chat.id, text, chat.group, tuple(supervised), labelled=chat.labelled, strata=chat.strata)
    return Rendered(document, Text(text, tuple(Interval(at, at + 1) for at, each in enumerate(text) if each == "\n")))


def jsonl(path: Path, rows: Sequence[object]) -> Path:
    """Write rows as JSON lines; bytes as they are."""
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"".join((row if isinstance(row, bytes) else orjson.dumps(row)) + b"\n" for row in rows))
    return path


@dataclass
class Run:
    """A run over one file, in shards of ``size`` rows."""

    file: Path
    size: int = 3
    passes: tuple[Pass, ...] = (PLAIN,)
    columns: Columns = field(default_factory=Columns)
    reference: Reference = REFERENCE
    batch_characters: int = 1
    scorer: CharacterScorer = field(default_factory=CharacterScorer)

    @property
    def job(self) -> ScoreJob:
        return ScoreJob(
            root=self.file.parent,
            dataset="set",
            columns=self.columns,
            passes=self.passes,
            model=ReferenceModel(name="characters"),
            reference=self.reference,
            batch_characters=self.batch_characters,
        )

    def plan(self, reprocess: Reprocess = "missing_and_failed") -> tuple[Plan, Input]:
        rows = Input(parts_of([self.file], "auto", (), self.columns))
        job = self.job
        planned = plan(
            job.store(),
            ShardRange(0, rows.rows),
            self.size,
            job.spec_hash(),
            lambda shard: input_hashes(rows.slices(shard.start, shard.stop)),
            reprocess,
        )
        return planned, rows

    def score(self, reprocess: Reprocess = "missing_and_failed") -> list[ScoreReceipt]:
        """Score what the plan says, one shard after the other, with a new scorer."""
        planned, rows = self.plan(reprocess)
        return asyncio.run(self._score(planned, rows))

    async def _score(self, planned: Plan, rows: Input) -> list[ScoreReceipt]:
        job, shared = self.job, Shared()
        context = WorkerContext(LocalKeeper(Reservoir(0)), _shared=shared)
        await context.shared(job.model.model_dump_json(), partial(_opened, self.scorer))
        try:
            return [
                await make_scores(job, shard, rows.slices(shard.start, shard.stop), context) for shard in planned.todo
            ]
        finally:
            await shared.close()

    def tables(self) -> tuple[list[dict[str, object]], list[dict[str, object]]]:
        """Return the rows of both tables."""
        store = self.job.store()
        return store.read("scores").to_pylist(), store.read("score_rejects").to_pylist()


@asynccontextmanager
async def _opened(scorer: CharacterScorer) -> AsyncIterator[Opened]:
    yield Opened(scorer, render, "float32")
