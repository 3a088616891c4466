"""Refinement: S by hand, verdicts in either order, and what the ablations leave out."""

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import Request, RequestRejected
from tasks.ask import Asker, StepFailed
from tasks.diversity.vendi import Pool
from tasks.events import MemoryLog
from tasks.prompts import quote
from tasks.synthesis.config import RefinementConfig, Temperatures
from tasks.synthesis.refine import Refinement, Refiner
from tests.tasks.synthesis.script import asked, scripted

F32 = npt.NDArray[np.float32]
FACTS = {
    "name": "Ana Lima",
    "who": "Ana Lima, 40",
    "person": "Ana Lima, 40",
    "happened": "3 May 2019: a move.",
    "record_type": "A letter",
    "words": 80,
    "language": "English",
}
AXES = dict(zip(("old", "new", "other"), np.eye(3, dtype=np.float32), strict=True))


class FixedPool:
    """A pool that never changes, and counts how often it is drawn."""

    def __init__(self, *names: str) -> None:
        self.draws: list[int] = []
        self._vectors = np.stack([AXES[name] for name in names]) if names else np.zeros((0, 0), np.float32)

    async def prepared(self, size: int, seed: int) -> Pool:
        self.draws.append(seed)
        return Pool.prepare(self._vectors[:size])

    async def add(self, vector: F32) -> None:
        raise AssertionError("a refiner adds nothing: the record is not finished")


async def embed(text: str) -> F32:
    return AXES[text]


async def no_embedding(text: str) -> F32:
    raise AssertionError(f"no embedding is needed, asked for that of {text!r}")


def verdict_for(better: str) -> Any:
    """Judge as somebody who prefers ``better`` and finds it wherever it stands."""

    def answer(request: Request) -> Any:
        if not request.tags["step"].startswith("judge"):
            return "new"
        prompt = request.messages[-1].content
        first = prompt.index(quote("new")) < prompt.index(quote("old"))
        return orjson.dumps({"verdict": "1" if (better == "new") == first else "2"}).decode()

    return answer


async def refined(
    answer: Any,
    pool: FixedPool,
    *,
    record_id: str = "r-1",
    embedding: Any = embed,
    log: MemoryLog | None = None,
    **config: Any,
) -> tuple[str, list[Refinement], FakeBackend]:
    backend = FakeBackend(answer)
    refiner = Refiner(
        ask=Asker(record_id, 7, backend, log or MemoryLog()),
        pool=pool,
        embed=embedding,
        embedder_model="axes",
        config=RefinementConfig(**{"steps": 1} | config),
        temperatures=Temperatures(),
    )
    text, trace = await refiner.refine("old", FACTS, max_tokens=99, check=str)
    return text, trace, backend


# --- the score ---


def vendi(*counts: int) -> float:
    """VS of unit vectors along axes: the exponential of the entropy of how many share each axis."""
    shares = [count / sum(counts) for count in counts]
    return math.exp(-sum(share * math.log(share) for share in shares))


@pytest.mark.parametrize(
    ("pool", "with_old", "with_new"),
    [
        (["old"], vendi(2), vendi(1, 1)),  # 1 and 2
        (["new"], vendi(1, 1), vendi(2)),
        (["old", "new"], vendi(2, 1), vendi(1, 2)),
        (["old", "old", "other"], vendi(3, 1), vendi(2, 1, 1)),
        ([], 1.0, 1.0),
    ],
)
@pytest.mark.parametrize("better", ["old", "new"])
async def test_the_score_is_that_of_the_paper(pool: list[str], with_old: float, with_new: float, better: str) -> None:
    text, (step,), _ = await refined(verdict_for(better), FixedPool(*pool), alpha=0.7, beta=0.3, tau=0.35)
    score = 0.7 * (better == "new") + 0.3 * (with_new - with_old)
    assert step.pool_size == len(pool)
    assert step.vendi_current == pytest.approx(with_old, abs=1e-9)
    assert step.vendi_candidate == pytest.approx(with_new, abs=1e-9)
    assert step.score == pytest.approx(score, abs=1e-9)
    assert step.accepted == (score > 0.35)
    assert text == ("new" if step.accepted else "old")


async def test_a_score_of_exactly_tau_is_not_above_it() -> None:
    at, above = [
        await refined(verdict_for("new"), FixedPool(), alpha=0.5, beta=0.5, tau=tau)
        for tau in (0.5, math.nextafter(0.5, 0))
    ]
    assert (at[0], at[1][0].score, at[1][0].accepted) == ("old", 0.5, False)
    assert (above[0], above[1][0].score, above[1][0].accepted) == ("new", 0.5, True)


async def test_by_default_the_judges_preference_alone_is_not_enough() -> None:
    narrower, wider = [await refined(verdict_for("new"), FixedPool(name)) for name in ("new", "old")]
    assert (narrower[0], wider[0]) == ("old", "new")


async def test_the_pool_holds_no_more_than_asked() -> None:
    _, (step,), _ = await refined(verdict_for("new"), FixedPool("old", "new", "other"), pool_size=2)
    assert step.pool_size == 2


# --- the judge ---


@pytest.mark.parametrize("better", ["old", "new"])
async def test_in_either_order_the_judge_is_understood(better: str) -> None:
    orders = set()
    for number in range(12):
        text, (step,), backend = await refined(
            verdict_for(better), FixedPool(), record_id=f"r-{number}", alpha=1.0, tau=0.5
        )
        assert (step.verdict, text) == ({"new": "candidate", "old": "current"}[better], better)
        prompt = backend.requests[-1].messages[-1].content
        assert step.candidate_shown_first == (prompt.index(quote("new")) < prompt.index(quote("old")))
        orders.add(step.candidate_shown_first)
    assert orders == {True, False}


async def test_the_order_belongs_to_the_record_and_the_step() -> None:
    async def orders(record_id: str) -> list[bool | None]:
        _, trace, _ = await refined(verdict_for("old"), FixedPool(), record_id=record_id, steps=10)
        return [step.candidate_shown_first for step in trace]

    assert await orders("r-1") == await orders("r-1") != await orders("r-2")
    assert len(set(await orders("r-1"))) == 2


async def test_a_judge_that_always_says_1_favours_neither_draft() -> None:
    verdicts = [
        (await refined(scripted({"revise-1": ["new"], "judge-1": ["1"]}), FixedPool(), record_id=f"r-{number}"))[1]
        for number in range(60)
    ]
    favoured = sum(step.verdict == "candidate" for (step,) in verdicts)
    assert 15 <= favoured <= 45  # 60 fair coins are outside in 7 of 100,000 cases, and these are always the same


@pytest.mark.parametrize(
    "verdict",
    ["Both 1 and 2 are good.", "2 is worse", '{"verdict": "3"}', '{"score": 0.9}', "", "I cannot judge this."],
)
async def test_an_unparsable_verdict_counts_as_0_and_stands_in_the_trace(verdict: str) -> None:
    answers = scripted({"revise-1": ["new"], "judge-1": [verdict]})
    _, (step,), backend = await refined(answers, FixedPool("old"), alpha=0.5, beta=0.3)
    assert asked(backend) == ["revise-1", "judge-1"]  # and is not asked again
    assert step.verdict == "unparsable"
    assert step.score == pytest.approx(0.3)  # beta (2 - 1), and nothing of alpha
    assert not step.accepted


async def test_a_judge_that_rejects_the_request_ends_the_record_with_its_reason() -> None:
    with pytest.raises(StepFailed, match="judge-1: request_rejected: too long"):
        await refined(scripted({"revise-1": ["new"], "judge-1": [RequestRejected("too long")]}), FixedPool())


# --- steps ---


async def test_each_step_revises_what_the_last_one_left() -> None:
    revisions = iter(["new", "other"])

    def answer(request: Request) -> Any:
        return next(revisions) if request.tags["step"].startswith("revise") else prefer_the_later(request)

    def prefer_the_later(request: Request) -> str:
        prompt = request.messages[-1].content
        places = {name: prompt.find(quote(name)) for name in AXES}
        shown = sorted((name for name in AXES if places[name] >= 0), key=places.__getitem__)
        return orjson.dumps({"verdict": str(1 + shown.index(max(shown, key=list(AXES).index)))}).decode()

    text, trace, backend = await refined(answer, FixedPool(), steps=2, alpha=1.0)
    revise_2 = next(request for request in backend.requests if request.tags["step"] == "revise-2")
    assert quote("new") in revise_2.messages[-1].content
    assert ([step.accepted for step in trace], text) == ([True, True], "other")


async def test_a_revision_that_never_comes_leaves_the_draft_and_a_trace() -> None:
    backend_answers = scripted({"revise-1": ["", "", ""], "revise-2": ["new"], "judge-2": ['{"verdict": "1"}']})
    _, trace, backend = await refined(backend_answers, FixedPool(), steps=2)
    assert trace[0] == Refinement(1, "no_candidate")
    assert trace[1].step == 2
    assert "judge-1" not in asked(backend)


async def test_a_records_pool_is_drawn_once() -> None:
    pool = FixedPool("old")
    _, trace, _ = await refined(verdict_for("old"), pool, steps=3)
    assert len(trace) == 3
    assert len(pool.draws) == 1


async def test_another_record_draws_another_pool() -> None:
    pool = FixedPool("old")
    for record_id in ("r-1", "r-2", "r-1"):
        await refined(verdict_for("old"), pool, record_id=record_id)
    assert pool.draws[0] == pool.draws[2] != pool.draws[1]


async def test_the_decision_is_an_event_of_the_chain() -> None:
    log = MemoryLog()
    first, later = FixedPool("old"), FixedPool("new", "other")
    text, trace, _ = await refined(verdict_for("new"), first, log=log)
    again = await refined(verdict_for("new"), later, embedding=no_embedding, log=log)
    assert (again[0], again[1]) == (text, trace) == ("new", trace)
    assert later.draws == []
    assert again[2].requests == []


# --- ablations ---


async def test_without_revision_nobody_is_asked() -> None:
    pool = FixedPool("old")
    text, trace, backend = await refined(verdict_for("new"), pool, embedding=no_embedding, steps=0)
    assert (text, trace, backend.requests, pool.draws) == ("old", [], [], [])


@pytest.mark.parametrize("better", ["old", "new"])
async def test_without_the_diversity_term_the_judge_alone_decides(better: str) -> None:
    pool = FixedPool("new")
    text, (step,), _ = await refined(verdict_for(better), pool, embedding=no_embedding, diversity=False, tau=2.0)
    assert text == better
    assert (step.score, step.accepted) == (float(better == "new"), better == "new")
    assert (step.pool_size, step.vendi_current, step.vendi_candidate) == (None, None, None)
    assert pool.draws == []
