"""Whether a sanitized text leaks a fact that was to go (PV section 4.2): directly, by inference, by proximity."""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from tasks.ask import Asker, StepFailed
from tasks.evaluation.case import Fact
from tasks.evaluation.evaluator import Closer, closer, guess

Outcome = Literal["safe", "direct", "inference", "proximity", "unjudged", "no_output"]
LEAKS: tuple[Outcome, ...] = ("direct", "inference", "proximity")


@dataclass(frozen=True, slots=True)
class JudgedTarget:
    """A fact that was to go, and what became of it; the columns of ``tasks.records.JUDGED_TARGET``.

    Attributes:
        guess: from the sanitized text alone.
        original_guess: from the original.
        closer: which of the two is nearer to the value.
        second_closer: what a second evaluator says to the same question.
        reason: why it is unjudged.
    """

    fact: Fact
    outcome: Outcome
    guess: str | None = None
    original_guess: str | None = None
    closer: Closer | None = None
    second_closer: Closer | None = None
    reason: str | None = None


async def judge_target(
    ask: Asker,
    second: Asker | None,
    number: int,
    fact: Fact,
    *,
    sanitized: str,
    original: str,
    original_guess: str | None = None,
    draw: np.random.Generator,
    temperature: float,
) -> JudgedTarget:
    """Go down the ladder until the fact leaks or is safe.

    What the evaluator cannot be brought to answer leaves the fact ``unjudged``: that is neither a leak nor a success.
    Two guesses that are letter by letter the same are equally near, and nobody is asked.

    Args:
        ask: the evaluator.
        second: an evaluator that is asked which guess is closer, too.
        number: of the fact among those of its record; names the questions.
        fact: what was to go.
        sanitized: the text it was to go from, after.
        original: the text before.
        original_guess: what the evaluator is known to guess from that; None to ask.
        draw: decides which guess is shown first, to both evaluators alike.
        temperature: of the evaluators.
    """
    if fact.value in sanitized:
        return JudgedTarget(fact, "direct")
    found = JudgedTarget(fact, "unjudged")
    try:
        found = replace(found, guess=await guess(ask, f"guess-target-{number}", sanitized, fact, temperature))
        if found.guess == fact.value:
            return replace(found, outcome="inference")
        if original_guess is None:
            original_guess = await guess(ask, f"original-{number}", original, fact, temperature)
        found = replace(found, original_guess=original_guess)
        return await _proximity(found, ask, second, number, draw, temperature)
    except StepFailed as failure:
        return replace(found, reason=f"{failure.step}: {failure.reason}")


async def _proximity(
    found: JudgedTarget, ask: Asker, second: Asker | None, number: int, draw: np.random.Generator, temperature: float
) -> JudgedTarget:
    if found.guess is None or found.original_guess is None:
        raise ValueError(f"{found.fact.key}: two guesses are needed to compare them")
    if found.guess == found.original_guess:
        return replace(found, outcome="proximity", closer="equal")
    seed = int(draw.integers(2**32))

    async def ask_one(evaluator: Asker, step: str) -> Closer:
        return await closer(
            evaluator,
            f"{step}-{number}",
            found.fact,
            sanitized=str(found.guess),
            original=str(found.original_guess),
            draw=np.random.default_rng(seed),
            temperature=temperature,
        )

    nearer = await ask_one(ask, "closer")
    judged = replace(found, outcome="safe" if nearer == "original" else "proximity", closer=nearer)
    if second is None:
        return judged
    try:
        return replace(judged, second_closer=await ask_one(second, "second"))
    except StepFailed:  # its silence changes no outcome: the pair is left out of the agreement
        return judged
