"""What a rewritten document still tells: private values by their letters, other facts by a judge (SM App. B.5)."""

from collections.abc import Mapping, Sequence
from typing import Any

from tasks.ask import Asker
from tasks.sanitization.occurrences import leaks
from tasks.schemas import json_array, json_object
from tasks.surprise.documents import Document
from tasks.surprise.routing.config import RoutingConfig
from tasks.surprise.routing.prompts import KEPT, PROPOSITIONS

PROPOSITION_CHARACTERS = 300
JUDGE_TOKENS = 2000


def private_values(document: Document) -> list[tuple[str, str]]:
    """The different values of the labelled spans, each with its category; white space alone is none."""
    values = ((label.category, document.text[label.start : label.end].strip()) for label in document.labels)
    return list(dict.fromkeys(pair for pair in values if pair[1]))


def values_gone(text: str, values: Sequence[tuple[str, str]]) -> int:
    """How many values stand nowhere in a text, neither letter by letter nor folded."""
    return len(values) - len(leaks(text, values))


async def propositions(ask: Asker, text: str, config: RoutingConfig) -> list[str]:
    """List what a document says apart from what is private.

    Raises:
        StepFailed: no reply was usable.
    """
    item = {"type": "string", "minLength": 3, "maxLength": PROPOSITION_CHARACTERS}

    def check(reply: Mapping[str, Any]) -> list[str]:
        return list(dict.fromkeys(" ".join(fact.split()) for fact in reply["facts"]))

    return await ask.json(
        "propositions",
        PROPOSITIONS.render(text=text, private=config.private, most=config.propositions),
        json_object(facts=json_array(item, 1, config.propositions)),
        temperature=0.0,
        max_tokens=JUDGE_TOKENS,
        check=check,
    )


async def kept(ask: Asker, name: str, text: str, facts: Sequence[str]) -> int:
    """Count the facts that can still be learnt from a text.

    Raises:
        StepFailed: no reply was usable.
    """
    number = {"type": "integer", "minimum": 1, "maximum": len(facts)}

    def check(reply: Mapping[str, Any]) -> int:
        return len(set(reply["numbers"]))

    return await ask.json(
        f"kept-{name}",
        KEPT.render(text=text, facts=facts),
        json_object(numbers=json_array(number, 0, len(facts))),
        temperature=0.0,
        max_tokens=JUDGE_TOKENS,
        check=check,
    )
