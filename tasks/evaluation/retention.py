"""Whether a sanitized text still tells a fact that was to stay (PV section 4.2 and Appendix D)."""

from dataclasses import dataclass, replace
from typing import Literal

from tasks.ask import Asker, StepFailed
from tasks.evaluation.case import Fact
from tasks.evaluation.evaluator import guess, present

Outcome = Literal["exact", "guessed", "present", "lost", "unjudged", "no_output"]
KEPT: tuple[Outcome, ...] = ("exact", "guessed", "present")


@dataclass(frozen=True, slots=True)
class JudgedRetained:
    """A fact that was to stay, and what became of it; the columns of ``tasks.records.JUDGED_RETAINED``."""

    fact: Fact
    outcome: Outcome
    guess: str | None = None
    reason: str | None = None


async def judge_retained(ask: Asker, number: int, fact: Fact, *, sanitized: str, temperature: float) -> JudgedRetained:
    """Go down the ladder until the fact is found or lost: its value stands there, is guessed, or is said to be there.

    An empty text says nothing, and nobody is asked about it. What the evaluator cannot be brought to answer leaves the
    fact ``unjudged``.
    """
    if fact.value in sanitized:
        return JudgedRetained(fact, "exact")
    if not sanitized.strip():
        return JudgedRetained(fact, "lost")
    found = JudgedRetained(fact, "unjudged")
    try:
        guessed = await guess(ask, f"guess-kept-{number}", sanitized, fact, temperature)
        found = replace(found, guess=guessed)
        if guessed == fact.value:
            return replace(found, outcome="guessed")
        is_there = await present(ask, f"present-{number}", sanitized, fact, guessed, temperature)
        return replace(found, outcome="present" if is_there else "lost")
    except StepFailed as failure:
        return replace(found, reason=f"{failure.step}: {failure.reason}")
