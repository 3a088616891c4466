"""One step of a chain: what is asked again, how, and what is given up."""

from collections.abc import Callable
from typing import Any

import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import BackendUnavailable, Message, Reply, ReplyUnusable, Request, RequestRejected, Usage
from tasks.ask import Asker, StepFailed, StepSpent
from tasks.events import MemoryLog
from tasks.schemas import json_object
from tests.tasks.synthesis.script import Answer, asked, asker, cut_off, last_message, scripted

AGE = json_object(age={"type": "integer"})
ASK = (Message("system", "Answer with JSON only."), Message("user", "How old?"))


def answering(*answers: Answer) -> FakeBackend:
    return FakeBackend(scripted({"step": answers}))


async def ask_json(
    ask: Asker, *, check: Callable[[dict[str, int]], dict[str, int]] = dict, invents: bool = False
) -> dict[str, int]:
    return await ask.json("step", ASK, AGE, temperature=0.0, max_tokens=50, check=check, invents=invents)


async def ask_text(ask: Asker) -> str:
    return await ask.text("step", ASK, temperature=0.0, max_tokens=50, check=str)


async def failure_of(ask: Asker) -> StepFailed:
    with pytest.raises(StepFailed) as caught:
        await ask_json(ask)
    return caught.value


async def test_a_good_answer_is_asked_for_once() -> None:
    backend = answering('{"age": 40}')
    assert await ask_json(asker(backend)) == {"age": 40}
    (request,) = backend.requests
    assert (request.messages, request.schema) == (ASK, AGE)
    assert request.tags == {"record_id": "r-1", "step": "step", "attempt": "0"}


async def test_a_repair_turn_shows_the_model_its_reply_and_its_error() -> None:
    backend = answering('{"age": "forty"}', '{"age": 40}')
    assert await ask_json(asker(backend)) == {"age": 40}
    repair = backend.requests[1]
    assert repair.messages[: len(ASK)] == ASK
    assert repair.messages[len(ASK)] == Message("assistant", '{"age": "forty"}')
    assert last_message(repair).role == "user"
    assert "`age`: expected integer, got string" in last_message(repair).content
    assert repair.schema == AGE


async def test_a_second_repair_shows_the_last_error_alone() -> None:
    backend = answering('{"age": "forty"}', "{}", '{"age": 40}')
    await ask_json(asker(backend))
    assert [len(request.messages) for request in backend.requests] == [2, 4, 4]
    assert backend.requests[2].messages[2] == Message("assistant", "{}")
    assert '"age" is missing' in last_message(backend.requests[2]).content


async def test_what_the_check_says_is_what_the_model_is_shown() -> None:
    def adult(reply: dict[str, int]) -> dict[str, int]:
        if reply["age"] < 18:
            raise ReplyUnusable("age: must be 18 or more")
        return reply

    backend = answering('{"age": 4}', '{"age": 40}')
    assert await ask_json(asker(backend), check=adult) == {"age": 40}
    assert "age: must be 18 or more" in last_message(backend.requests[1]).content


async def test_a_reply_that_was_cut_off_is_asked_again_with_twice_the_limit_and_no_repair() -> None:
    backend = answering(cut_off('{"age": '), cut_off('{"age": 4'), '{"age": 40}')
    assert await ask_json(asker(backend)) == {"age": 40}
    assert [request.sampling.max_tokens for request in backend.requests] == [50, 100, 200]
    assert {request.messages for request in backend.requests} == {ASK}


async def test_a_reply_cut_off_is_not_used_even_where_it_reads_well() -> None:
    backend = answering(cut_off("Dear Ana, see you"), "Dear Ana, see you soon.")
    assert await ask_text(asker(backend)) == "Dear Ana, see you soon."


@pytest.mark.parametrize("empty", ["", " \n\t", "\ufeff", "\0"])
async def test_an_empty_reply_is_never_data(empty: str) -> None:
    assert await ask_text(asker(answering(empty, "text"))) == "text"
    assert await ask_json(asker(answering(empty, '{"age": 40}'))) == {"age": 40}
    failure = await failure_of(asker(answering(empty, empty, empty)))
    assert failure.reason == "empty_reply"


async def test_free_text_is_asked_again_as_it_was_but_warmer_and_with_another_seed() -> None:
    backend = answering("I'm sorry, but I can't help with that request.", "Dear Ana.")
    assert await ask_text(asker(backend)) == "Dear Ana."
    first, second = backend.requests
    assert second.messages == first.messages
    assert second.sampling.temperature > first.sampling.temperature == 0.0
    assert second.sampling.seed != first.sampling.seed


async def test_after_the_last_attempt_the_failure_has_step_reason_detail_and_last_reply() -> None:
    backend = answering("{}", "no JSON", '{"age": "old"}', '{"age": 40}')
    failure = await failure_of(asker(backend, attempts=3))
    assert asked(backend) == ["step", "step 1", "step 2"]
    assert (failure.step, failure.reason, failure.last_reply) == ("step", "invalid_reply", '{"age": "old"}')
    assert failure.detail == "`age`: expected integer, got string"


async def test_a_refusal_of_json_is_named_as_one() -> None:
    failure = await failure_of(asker(answering(*["I’m sorry, but I can’t help with that."] * 3)))
    assert failure.reason == "refusal"


async def test_a_request_that_never_works_is_asked_once() -> None:
    backend = answering(RequestRejected("too long"))
    failure = await failure_of(asker(backend))
    assert asked(backend) == ["step"]
    assert (failure.reason, failure.detail, failure.last_reply) == ("request_rejected", "too long", None)


async def test_a_backend_that_is_away_is_no_fault_of_the_record_and_leaves_no_event() -> None:
    log = MemoryLog()
    with pytest.raises(BackendUnavailable):
        await ask_json(asker(answering(BackendUnavailable("down")), log))
    assert log.events == {}
    assert await ask_json(asker(answering('{"age": 40}'), log)) == {"age": 40}


async def test_once_takes_whatever_comes() -> None:
    backend = answering("Both 1 and 2 are good.")
    text = await asker(backend).once("step", ASK, AGE, temperature=0.0, max_tokens=8)
    assert text == "Both 1 and 2 are good."
    assert asked(backend) == ["step"]


async def test_a_replay_asks_nothing_and_takes_the_same_turns() -> None:
    log = MemoryLog()
    answers: tuple[Answer, ...] = ("{}", cut_off('{"age": '), '{"age": 40}')
    first, second = asker(answering(*answers), log), asker(answering(), log)
    assert await ask_json(first) == await ask_json(second) == {"age": 40}
    assert isinstance(second.backend, FakeBackend)
    assert second.backend.requests == []
    assert second.spent == first.spent


def at_forty(model: str = "fake") -> FakeBackend:
    return FakeBackend(lambda _: '{"age": 40}', model)


@pytest.mark.parametrize(
    "otherwise",
    [
        {"step": "another step"},
        {"messages": ASK[:1]},
        {"schema": json_object(age={"type": "integer", "minimum": 0})},
        {"temperature": 0.5},
        {"max_tokens": 51},
        {"invents": True},
        {"record_id": "r-2"},
        {"run_seed": 8},
        {"backend": at_forty("another model")},
    ],
)
async def test_what_is_asked_otherwise_is_asked_anew(otherwise: dict[str, Any]) -> None:
    log = MemoryLog()

    async def ask(record_id: str = "r-1", run_seed: int = 7, backend: FakeBackend | None = None, **how: Any) -> None:
        usual: dict[str, Any] = {
            "step": "step",
            "messages": ASK,
            "schema": AGE,
            "temperature": 0.0,
            "max_tokens": 50,
            "check": dict,
        }
        await Asker(record_id, run_seed, backend or at_forty(), log, repeat_penalty=1.1).json(**usual | how)

    await ask()
    await ask()
    assert len(log.events) == 1
    await ask(**otherwise)
    assert len(log.events) == 2


async def test_a_reply_survives_its_journal_whole() -> None:
    reply = Reply("Zoë 👋\u2028", "stop", Usage(9, 4, 3, 2), "served", "thinking", 1.25)
    log, seen = MemoryLog(), list[Reply]()
    for backend in (answering(reply), answering()):
        ask = asker(backend, log)
        ask.transcript = lambda _, each: seen.append(each)
        await ask_text(ask)
    assert seen == [reply, reply]


async def test_every_answer_is_paid_for_repairs_included() -> None:
    ask = asker(answering("{}", Reply('{"age": 40}', "stop", Usage(7, 5, 3, 2), "fake")))
    await ask_json(ask)
    assert ask.spent == {"step": StepSpent(2, Usage(6 + 7, 5, 1 + 3, 2))}  # the prompt has six words


async def test_a_transcript_sees_each_request_with_its_reply() -> None:
    seen: list[tuple[Request, Reply]] = []
    ask = asker(answering("{}", '{"age": 40}'))
    ask.transcript = lambda request, reply: seen.append((request, reply))
    await ask_json(ask)
    assert isinstance(ask.backend, FakeBackend)
    assert [request for request, _ in seen] == ask.backend.requests
    assert [reply.text for _, reply in seen] == ["{}", '{"age": 40}']


async def test_penalties_go_with_what_is_invented_and_forbidden_characters_with_free_text() -> None:
    backend = answering("text")
    ask = asker(backend)
    ask.repeat_penalty, ask.forbidden_characters = 1.1, "[]"
    await ask_text(ask)
    backend = ask.backend = answering('{"age": 40}')
    await ask_json(ask, invents=True)
    backend_copying = ask.backend = answering('{"age": 40}')
    ask.log = MemoryLog()
    await ask_json(ask)
    sent = [backend.requests[0].sampling, backend_copying.requests[0].sampling]
    assert [(each.repeat_penalty, each.forbidden_characters) for each in sent] == [(1.1, ""), (None, "")]
