"""The ladder of leaks: what each answer of the evaluator makes of a fact, and what no answer does."""

import pytest

from infra.llm.types import RequestRejected
from tasks.evaluation.leaks import JudgedTarget, judge_target
from tests.tasks.evaluation.script import TEXT, answers, asker, draw, fact, line
from tests.tasks.sanitization.script import to_json

CLEAN = "Somebody of Porto takes a medicine."


def guessed(value: str) -> str:
    return to_json({"guess": value})


async def judged(key: str, clean: str, by_kind: dict[str, object], seed: int = 0) -> tuple[JudgedTarget, list[str]]:
    ask, backend = asker(answers(by_kind))  # type: ignore[arg-type]
    found = await judge_target(
        ask, None, 0, fact(key), sanitized=clean, original=TEXT, draw=draw(seed), temperature=0.0
    )
    return found, [request.tags["step"] for request in backend.requests]


async def test_a_value_that_stands_there_is_a_direct_leak_and_nobody_is_asked() -> None:
    found, asked = await judged("name", "By Ana Lima.", {})
    assert (found.outcome, asked) == ("direct", [])


async def test_another_letter_case_is_no_direct_leak() -> None:
    found, _ = await judged("name", "By ANA LIMA.", {"guess": guessed("x"), "original": guessed("x")})
    assert found.outcome == "proximity"


async def test_a_guess_that_is_the_value_is_an_inference_leak_and_the_original_is_not_read() -> None:
    found, asked = await judged("medicine", CLEAN, {"guess": guessed(" ibuprofen\n")})
    assert (found.outcome, found.guess, asked) == ("inference", "ibuprofen", ["guess-target-0"])


async def test_a_guess_that_holds_the_value_among_others_is_none() -> None:
    found, _ = await judged(
        "medicine", CLEAN, {"guess": guessed("ibuprofen or so"), "original": guessed("ibuprofen or so")}
    )
    assert found.outcome == "proximity"


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(
    ("says", "outcome", "closer"),
    [("equal", "proximity", "equal"), ("sanitized", "proximity", "sanitized"), ("original", "safe", "original")],
)
async def test_the_sanitized_guess_must_be_farther_away_whichever_is_shown_first(
    seed: int, says: str, outcome: str, closer: str
) -> None:
    def answer(prompt: str) -> str:
        first = {"near": "original", "far": "sanitized"}[line(prompt, "Guess A: ")]
        return to_json({"closer": "equal" if says == "equal" else "A" if first == says else "B"})

    ask, backend = asker(
        lambda request: {
            "guess": guessed("far"),
            "original": guessed("near"),
            "closer": answer(request.messages[1].content) if "closer" in request.tags["step"] else "",
        }[request.tags["step"].partition("-")[0]]
    )
    found = await judge_target(
        ask, None, 0, fact("medicine"), sanitized=CLEAN, original=TEXT, draw=draw(seed), temperature=0.0
    )
    assert (found.outcome, found.closer) == (outcome, closer)
    assert (found.guess, found.original_guess) == ("far", "near")
    assert len(backend.requests) == 3


async def test_both_orders_of_the_two_guesses_are_drawn() -> None:
    shown = set()
    for seed in range(20):
        by_kind = {"guess": guessed("far"), "original": guessed("near"), "closer": to_json({"closer": "equal"})}
        ask, backend = asker(answers(by_kind))
        await judge_target(
            ask, None, 0, fact("medicine"), sanitized=CLEAN, original=TEXT, draw=draw(seed), temperature=0.0
        )
        shown.add(line(backend.requests[-1].messages[1].content, "Guess A: "))
    assert shown == {"far", "near"}


async def test_the_evaluator_sees_only_what_it_may() -> None:
    by_kind = {"guess": guessed("far"), "original": guessed("near"), "closer": to_json({"closer": "A"})}
    ask, backend = asker(answers(by_kind))
    await judge_target(ask, None, 0, fact("medicine"), sanitized=CLEAN, original=TEXT, draw=draw(), temperature=0.0)
    first, second, third = (request.messages[1].content for request in backend.requests)
    assert CLEAN in first
    assert "ibuprofen" not in first
    assert TEXT in second
    assert CLEAN not in third
    assert TEXT not in third


async def test_two_guesses_that_are_the_same_are_as_close_without_asking() -> None:
    found, asked = await judged("medicine", CLEAN, {"guess": guessed("pills"), "original": guessed("pills")})
    assert (found.outcome, found.closer) == ("proximity", "equal")
    assert asked == ["guess-target-0", "original-0"]


@pytest.mark.parametrize(
    ("by_kind", "reason"),
    [
        ({"guess": ["", "", ""]}, "guess-target-0: empty_reply"),
        ({"guess": ["1", "1", "1"]}, "guess-target-0: invalid_reply"),
        ({"guess": RequestRejected("too long")}, "guess-target-0: request_rejected"),
        ({"guess": [guessed("  ")] * 3}, "guess-target-0: empty_guess"),
        ({"guess": guessed("far"), "original": ["no", "no", "no"]}, "original-0: invalid_reply"),
        (
            {"guess": guessed("a"), "original": guessed("b"), "closer": ["1", "B is it", '{"closer": "2"}']},
            "closer-0: invalid_reply",
        ),
    ],
)
async def test_what_the_evaluator_cannot_be_brought_to_answer_is_unjudged(
    by_kind: dict[str, object], reason: str
) -> None:
    found, _ = await judged("medicine", CLEAN, by_kind)
    assert (found.outcome, found.closer, found.reason) == ("unjudged", None, reason)


async def test_an_unusable_reply_is_asked_again() -> None:
    found, asked = await judged("medicine", CLEAN, {"guess": ["1", guessed("ibuprofen")]})
    assert (found.outcome, asked) == ("inference", ["guess-target-0"] * 2)


async def test_a_second_evaluator_is_asked_the_very_same_and_its_silence_changes_nothing() -> None:
    by_kind = {"guess": guessed("far"), "original": guessed("near"), "closer": to_json({"closer": "A"})}
    for replies, verdict in (([to_json({"closer": "A"})], True), (["", "", ""], False)):
        ask, first = asker(answers(by_kind))
        other, second = asker(answers({"second": replies}))
        found = await judge_target(
            ask, other, 0, fact("medicine"), sanitized=CLEAN, original=TEXT, draw=draw(3), temperature=0.0
        )
        assert second.requests[0].messages == first.requests[-1].messages
        assert found.outcome in ("safe", "proximity")
        assert found.second_closer == (found.closer if verdict else None)
