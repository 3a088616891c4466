import json
from collections.abc import Mapping

from infra.llm.fake import FakeBackend
from infra.llm.types import Request, Usage
from tasks.ask import Asker
from tasks.events import MemoryLog
from tasks.surprise.documents import Document, Label
from tasks.surprise.routing.chain import RoutedDocument, RoutingChain, Source
from tasks.surprise.routing.config import RoutingConfig
from tasks.surprise.routing.rewrite import rewrite_sentences
from tasks.synthesis.chain import MixedModel

TEXT = "I am Jane Roe. It rains. My pin is 4711.\n"
SENTENCES = ((0, 15, 2), (15, 25, 3), (25, 41, 1))
SOURCE = Source(Document("d", TEXT, labels=(Label(5, 13, "name"), Label(35, 39, "pin"))), 0, SENTENCES, 12)


def rewriter(request: Request) -> str:
    """Hides both values wherever they stand; asked for a document, it forgets the pin."""
    step = request.tags["step"]
    answers: Mapping[str, str] = {
        "sentence-0": "I am a person.",
        "sentence-25": "My pin is secret.",
        "document": "I am a person. It rains. My pin is 4711.",
    }
    return json.dumps({"rewritten": answers[step]})


def judge(request: Request) -> str:
    step = request.tags["step"]
    return json.dumps({"facts": ["It rains.", "There is a pin."]} if step == "propositions" else {"numbers": [1]})


async def routed(
    answer: FakeBackend, judged: FakeBackend | None = None, cuts: Mapping[str, int] | None = None
) -> RoutedDocument:
    def cost(usage: Usage) -> float:
        return usage.completion / 1000

    chain = RoutingChain(
        1,
        RoutingConfig(attempts=1),
        {"surprise 10%": 1, "surprise 80%": 2} if cuts is None else cuts,
        MixedModel(answer, 1.0, cost),
        None if judged is None else MixedModel(judged, 1.0, cost),
        MemoryLog(),
    )
    return await chain.run(SOURCE)


async def test_only_selected_sentences_go_and_the_rest_stays_letter_by_letter() -> None:
    backend = FakeBackend(rewriter)
    rows = {row["intervention"]: row for row in (await routed(backend)).rows}
    assert list(rows) == ["unmodified", "surprise 10%", "surprise 80%", "document"]
    assert rows["surprise 10%"]["text"] == "I am Jane Roe. It rains. My pin is secret.\n"
    assert rows["surprise 80%"]["text"] == "I am a person. It rains. My pin is secret.\n"
    assert [rows[name]["values_gone"] for name in rows] == [0, 1, 2, 1]
    assert [rows[name]["sent"] for name in rows] == [0, 1, 2, 1]
    assert rows["unmodified"]["bleu"] == 1.0 > rows["surprise 10%"]["bleu"] > rows["surprise 80%"]["bleu"] > 0.0


async def test_each_intervention_pays_for_all_it_takes_alone_and_nothing_is_asked_twice() -> None:
    backend = FakeBackend(rewriter)
    done = await routed(backend)
    assert [row["calls"] for row in done.rows] == [0, 1, 2, 1]
    assert len(backend.requests) == 3  # the sentence that both budgets send is asked for once
    assert done.spent.calls == 4
    assert done.spent.cost_usd == sum(row["cost_usd"] for row in done.rows)


async def test_a_selected_sentence_without_a_usable_reply_is_redacted() -> None:
    done = await routed(FakeBackend(lambda request: "no JSON"), cuts={"surprise 10%": 1})
    row = done.rows[1]
    assert row["text"] == "I am Jane Roe. It rains. [REDACTED]\n"
    assert (row["sent"], row["failed"]) == (1, 1)
    assert done.rows[2]["text"] == "[REDACTED]"


async def test_the_white_space_around_a_redacted_sentence_stays() -> None:
    text = "\n  I am Jane.  It rains."
    asker = Asker("d", 1, FakeBackend(lambda request: "no JSON"), MemoryLog(), attempts=1)
    done = await rewrite_sentences(asker, text, [(0, 15)], RoutingConfig(attempts=1))
    assert done.text == "\n  [REDACTED]  It rains."


async def test_a_judge_counts_the_facts_that_are_left() -> None:
    judged = FakeBackend(judge, model="judge")
    done = await routed(FakeBackend(rewriter), judged)
    assert [(row["facts"], row["facts_kept"]) for row in done.rows] == [(2, 1)] * 4
    assert done.spent.steps["judge"].calls == 5
    assert sum(row["calls"] for row in done.rows) == 4  # the judge's are not among the rewriter's


async def test_a_judge_that_gives_nothing_usable_leaves_no_figure() -> None:
    done = await routed(FakeBackend(rewriter), FakeBackend(lambda request: "none"))
    assert {(row["facts"], row["facts_kept"]) for row in done.rows} == {(None, None)}


async def test_the_text_is_quoted_and_cannot_end_its_quotation() -> None:
    backend = FakeBackend(rewriter)
    await routed(backend)
    for request in backend.requests:
        content = request.messages[-1].content
        assert content.count("<text ") == content.count("</text ") >= 1
