"""NaP² files: read in every format, refused with their place, judged in a drawn order, and counted."""

import asyncio
import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from flows.commands.evaluate.nap2 import columns_of
from flows.config import ConfigError
from infra.llm.connect import Endpoint
from infra.llm.fake import FakeBackend
from infra.llm.prices import FREE
from infra.llm.types import BackendUnavailable, Request
from infra.ray.job import Shared, WorkerContext
from infra.ray.keeper import LocalKeeper
from infra.shards.ranges import ShardRange
from infra.shards.verify import verify
from tasks.diversity.pool import Reservoir
from tasks.evaluation.config import EvaluationConfig
from tasks.evaluation.nap2.judge import Nap2Judge, Nap2Judgement, leak_ratio
from tasks.evaluation.nap2.rows import Columns, Nap2Row, Nap2Unusable, read_nap2
from tasks.evaluation.nap2.steps import Nap2Job, judge_shard, plan_nap2, ratio_of
from tasks.events import MemoryLog
from tasks.shards.steps import MixEntry
from tests.tasks.evaluation.script import model
from tests.tasks.sanitization.script import QUOTED, to_json
from tests.tasks.synthesis.script import Answer

ROWS = [
    {
        "utterance": "I bake, with my two dogs.",
        "rewrite": "I have hobbies.",
        "persona": ["I bake.", "I have two dogs."],
    },
    {"utterance": "My sister, a nurse, left.", "rewrite": "My sister, a nurse, left.", "persona": ["A nurse."]},
]
COLUMNS = Columns(original="utterance", sanitized="rewrite", sensitive="persona")


def row(index: int = 0, sanitized: str = "I have hobbies.") -> Nap2Row:
    return Nap2Row(f"n-{index:08d}", index, "I bake, with my two dogs.", sanitized, "I bake.\nI have two dogs.")


def test_every_format_gives_the_same_rows(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text("\n\n".join(map(json.dumps, ROWS)), encoding="utf-8")
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text(
        "\ufeffpersona,utterance,rewrite,more\r\n"
        '"I bake.\nI have two dogs.","I bake, with my two dogs.",I have hobbies.,1\r\n'
        'A nurse.,"My sister, a nurse, left.","My sister, a nurse, left.",2\r\n',
        encoding="utf-8",
        newline="",
    )
    found = [read_nap2(tmp_path / f"a.{suffix}", COLUMNS) for suffix in ("csv", "jsonl", "parquet")]
    assert found[0] == found[1] == found[2]
    assert found[0][0] == row()


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("a.csv", "utterance,b,persona\nx,y,z\n", "no column rewrite; there are utterance, b, persona: say which"),
        ("a.csv", "utterance,rewrite,persona\nx,y,\n", "row 0: persona is empty"),
        ("a.csv", "utterance,rewrite,persona\nx\n", "row 0: rewrite is NoneType"),
        ("a.csv", "utterance,rewrite,persona\n", "has no rows"),
        ("a.jsonl", '{"utterance": ', "cannot be read"),
        ("a.jsonl", '{"utterance": 1, "rewrite": "", "persona": "x"}', "row 0: utterance is int"),
        ("a.jsonl", "[" * 100_000, "cannot be read"),
        ("a.jsonl", '{"utterance": "x", "rewrite": "", "persona": "x"}\n[1]', "row 1: is no object"),
        ("a.jsonl", "3", "row 0: is no object"),
        ("a.jsonl", r'{"utterance": "\ud800", "rewrite": "", "persona": "x"}', "row 0: utterance has half a surrogate"),
        ("a.parquet", "no", "cannot be read"),
        ("a.txt", "no", "give .csv, .jsonl or .parquet"),
    ],
)
def test_what_is_not_of_the_format_is_told_with_its_place(tmp_path: Path, name: str, text: str, said: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    with pytest.raises(Nap2Unusable, match=said):
        read_nap2(tmp_path / name, COLUMNS)


async def judged(answer: Answer, at: int = 0, sanitized: str = "I have hobbies.") -> tuple[Nap2Judgement, FakeBackend]:
    evaluator = model(lambda request: answer)
    found = await Nap2Judge(7, EvaluationConfig(), evaluator, MemoryLog()).run(row(at, sanitized))
    assert isinstance(evaluator.backend, FakeBackend)
    return found, evaluator.backend


async def test_the_verdict_is_read_by_the_order_in_which_the_texts_were_shown() -> None:
    orders = set()
    for at in range(20):
        found, backend = await judged(to_json({"closer": "A"}), at)
        _, first, second = (text for _, text in QUOTED.findall(backend.requests[0].messages[1].content))
        sanitized_first = first == "I have hobbies."
        assert {first, second} == {"I have hobbies.", "I bake, with my two dogs."}
        assert (found.outcome, found.closer) == (("leak", "sanitized") if sanitized_first else ("safe", "original"))
        orders.add(sanitized_first)
    assert orders == {True, False}


async def test_as_close_is_a_leak_and_no_answer_is_neither() -> None:
    assert (await judged(to_json({"closer": "equal"})))[0].outcome == "leak"
    found, backend = await judged("1")
    assert (found.outcome, found.closer, found.reason, len(backend.requests)) == ("unjudged", None, "invalid_reply", 3)


async def test_a_rewrite_that_changes_nothing_leaks_without_asking() -> None:
    found, backend = await judged(to_json({"closer": "A"}), 0, row().original)
    assert (found.outcome, found.closer, backend.requests) == ("leak", "equal", [])


def test_the_leak_ratio_is_of_what_was_judged() -> None:
    found = leak_ratio(["leak", "safe", "safe", "unjudged", "safe"])
    assert (found.ratio.value, found.ratio.of, found.leaks, found.unjudged) == (0.25, 4, 1, 1)
    assert leak_ratio([]).ratio.value is None


def test_columns_are_named_in_part_or_not_at_all() -> None:
    assert columns_of(None) == Columns()
    assert columns_of("sensitive=persona, original=utterance") == Columns(original="utterance", sensitive="persona")
    for said in ("personas=x", "original", "original="):
        with pytest.raises(ConfigError, match="--columns"):
            columns_of(said)


def test_a_file_is_judged_once_and_goes_on_where_it_was_cut_off(tmp_path: Path) -> None:
    endpoint = Endpoint(model="judge", price=FREE)
    job = Nap2Job(
        root=tmp_path,
        file=tmp_path / "a.csv",
        sha256="0",
        columns=COLUMNS,
        seed=7,
        config=EvaluationConfig(),
        evaluator=MixEntry(endpoint=endpoint, weight=1, identity={}),
        in_flight=1,
    )
    rows = [row(index) for index in range(4)]
    paid = iter(range(2))

    def failing(request: Request) -> Answer:
        return to_json({"closer": "equal"}) if next(paid, None) is not None else BackendUnavailable("gone")

    async def judge(backend: FakeBackend) -> None:
        shared = Shared()
        await shared.get(endpoint.model_dump_json(), lambda: backend)
        context = WorkerContext(LocalKeeper(Reservoir(0)), _shared=shared)
        await judge_shard(job, ShardRange(0, len(rows)), rows, context)

    with pytest.raises(BackendUnavailable):
        asyncio.run(judge(FakeBackend(failing)))
    rest = FakeBackend(lambda _: to_json({"closer": "equal"}))
    asyncio.run(judge(rest))
    assert len(rest.requests) == 2
    assert ratio_of(job).ratio.value == 1.0
    assert plan_nap2(job, 4).todo == ()
    assert verify(job.store()) == []
    shorter = job.model_copy(update={"sha256": "1"})
    assert plan_nap2(shorter, 1).todo == (ShardRange(0, 1),)
    job, rows = shorter, rows[:1]
    asyncio.run(judge(FakeBackend(lambda _: "no")))
    assert ratio_of(shorter).unjudged == 1
    assert ratio_of(shorter).ratio.of == 0  # what was judged of the file as it was does not count
