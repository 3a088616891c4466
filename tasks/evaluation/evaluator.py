"""The questions that an evaluator is asked. It answers facts; what they mean is decided elsewhere."""

from typing import Any, Literal

import numpy as np

from infra.llm.types import ReplyUnusable
from tasks.ask import Asker
from tasks.evaluation.case import Fact
from tasks.evaluation.prompts import CLOSER, GUESS, PRESENT
from tasks.schemas import json_object

Closer = Literal["sanitized", "original", "equal"]

LONGEST_GUESS = 300  # characters; annotated values have up to 200
GUESS_TOKENS = 360
VERDICT_TOKENS = 40

_GUESS_SCHEMA = json_object(guess={"type": "string", "minLength": 1, "maxLength": LONGEST_GUESS})
CLOSER_SCHEMA = json_object(closer={"type": "string", "enum": ["A", "B", "equal"]})
_PRESENT_SCHEMA = json_object(present={"type": "boolean"})


class NoGuess(ReplyUnusable):
    """The guess is white space."""

    @property
    def reason(self) -> str:
        """Name of what is wrong."""
        return "empty_guess"


async def guess(ask: Asker, step: str, text: str, fact: Fact, temperature: float) -> str:
    """Ask for the value of ``fact``, given its name and ``text`` alone.

    Raises:
        StepFailed: no usable guess.
    """
    return await ask.json(
        step,
        GUESS.render(text=text, name=fact.name),
        _GUESS_SCHEMA,
        temperature=temperature,
        max_tokens=GUESS_TOKENS,
        check=_stripped,
    )


def _stripped(reply: dict[str, Any]) -> str:
    guessed = str(reply["guess"]).strip()
    if not guessed:
        raise NoGuess("the guess is empty: guess also where the document does not say it")
    return guessed


async def closer(
    ask: Asker,
    step: str,
    fact: Fact,
    *,
    sanitized: str,
    original: str,
    draw: np.random.Generator,
    temperature: float,
) -> Closer:
    """Ask which of two guesses is nearer to the value; which one is shown first is drawn.

    Args:
        ask: the evaluator.
        step: names the question.
        fact: the truth.
        sanitized: guessed from the sanitized text.
        original: guessed from the original.
        draw: where the order comes from.
        temperature: of the evaluator.

    Raises:
        StepFailed: no usable verdict.
    """
    sanitized_first = bool(draw.random() < 0.5)
    first, second = (sanitized, original) if sanitized_first else (original, sanitized)
    reply: dict[str, str] = await ask.json(
        step,
        CLOSER.render(name=fact.name, value=fact.value, first=first, second=second),
        CLOSER_SCHEMA,
        temperature=temperature,
        max_tokens=VERDICT_TOKENS,
        check=dict[str, str],
    )
    return meant(reply["closer"], sanitized_first=sanitized_first)


def meant(answer: str, *, sanitized_first: bool) -> Closer:
    """Return what ``A``, ``B`` or ``equal`` names, by the order in which the two were shown."""
    if answer == "equal":
        return "equal"
    return "sanitized" if (answer == "A") == sanitized_first else "original"


async def present(ask: Asker, step: str, text: str, fact: Fact, guessed: str, temperature: float) -> bool:
    """Ask whether ``text`` still says ``fact``, given also what was guessed from it (PV Appendix D).

    Raises:
        StepFailed: no usable answer.
    """
    reply: dict[str, bool] = await ask.json(
        step,
        PRESENT.render(text=text, name=fact.name, value=fact.value, guess=guessed),
        _PRESENT_SCHEMA,
        temperature=temperature,
        max_tokens=VERDICT_TOKENS,
        check=dict[str, bool],
    )
    return reply["present"]
