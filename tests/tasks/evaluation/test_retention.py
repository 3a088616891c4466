"""The ladder of retention: found, guessed, said to be there, or lost."""

import pytest

from tasks.evaluation.retention import judge_retained
from tests.tasks.evaluation.script import answers, asker, fact
from tests.tasks.sanitization.script import to_json

CLEAN = "Her sister drove."


@pytest.mark.parametrize(
    ("clean", "by_kind", "outcome", "asked"),
    [
        ("Marta drove.", {}, "exact", 0),
        ("", {}, "lost", 0),
        (" \n", {}, "lost", 0),
        (CLEAN, {"guess": to_json({"guess": "Marta"})}, "guessed", 1),
        (CLEAN, {"guess": to_json({"guess": "M."}), "present": to_json({"present": True})}, "present", 2),
        (CLEAN, {"guess": to_json({"guess": "M."}), "present": to_json({"present": False})}, "lost", 2),
        (CLEAN, {"guess": ["", "", ""]}, "unjudged", 3),
        (CLEAN, {"guess": to_json({"guess": "M."}), "present": ["yes", "1", '{"present": "true"}']}, "unjudged", 4),
    ],
)
async def test_a_fact_that_was_to_stay_is_found_on_the_first_rung_that_holds(
    clean: str, by_kind: dict[str, object], outcome: str, asked: int
) -> None:
    ask, backend = asker(answers(by_kind))  # type: ignore[arg-type]
    found = await judge_retained(ask, 0, fact("sister"), sanitized=clean, temperature=0.0)
    assert (found.outcome, len(backend.requests)) == (outcome, asked)
    assert (found.reason is not None) == (outcome == "unjudged")


async def test_whether_it_is_there_is_asked_with_the_guess() -> None:
    by_kind = {"guess": to_json({"guess": "some M."}), "present": to_json({"present": True})}
    ask, backend = asker(answers(by_kind))
    await judge_retained(ask, 0, fact("sister"), sanitized=CLEAN, temperature=0.0)
    last = backend.requests[-1].messages[1].content
    assert all(said in last for said in (CLEAN, "Marta", "some M."))
