"""The final request (PV section 3.1, step 4): all that was done to a record, as one person would have asked for it."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from infra.llm.types import ReplyUnusable
from tasks.ask import Asker
from tasks.diversity.words import count_words
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.occurrences import leaks
from tasks.sanitization.prompts import REQUEST
from tasks.sanitization.source import Source
from tasks.sanitization.targets import Label, Target, in_words
from tasks.schemas import json_object
from tasks.synthesis.attributes import Attribute
from tasks.synthesis.grounding import Folded
from tasks.synthesis.refusals import is_refusal

LENGTHS = (
    "in one sentence of about 30 words",
    "in two or three sentences of about 60 words",
    "in a short paragraph of about 100 words",
)
REQUEST_TOKENS = 700
LEAST_WORDS = 5


class RequestUnusable(ReplyUnusable):
    """The request cannot be used: it tells what it asks to hide, or is none."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self._reason = reason

    @property
    def reason(self) -> str:
        """Name of what is wrong with it."""
        return self._reason


@dataclass(frozen=True, slots=True)
class Clause:
    """What a request says of one target.

    Attributes:
        members: what belongs to a group, in words; empty for a single attribute, and where they are left out.
        instruction: how it was done.
    """

    name: str
    label: Label
    members: tuple[str, ...]
    instruction: str


@dataclass(frozen=True, slots=True)
class FinalRequest:
    """A request and what it was made from."""

    text: str
    clauses: tuple[Clause, ...]
    length: str


def names_members(target: Target, stays: Collection[str], omit_share: float, draw: np.random.Generator) -> bool:
    """Draw whether a request names what belongs to a group: not with probability ``omit_share``.

    Nor ever where something of the same name ``stays``, for nobody could tell which of them is meant.
    """
    omitted = bool(draw.random() < omit_share)
    return target.is_group and not omitted and not any(in_words(each.key) in stays for each in target.attributes)


_POSSESSIVE = re.compile(r"['’]s?(?!\w)")
_LEFT_OPEN = re.compile(r"^[^\w(]+|(?:\s(?:of|for|by|about|(?:related|belonging) to))?[^\w)]*$", re.IGNORECASE)


def without_values(name: str, hidden: Iterable[str]) -> str:
    """Take ``hidden`` values out of a group's name: many are called after the person who has to be hidden.

    A name that is nothing but values stays: a request with it is refused by name.
    """
    left = name
    for value in sorted(hidden, key=lambda value: (-len(value), value)):  # a set of strings has another order each time
        for start, stop in reversed(Folded(left).find(value)):
            possessive = _POSSESSIVE.match(left, stop)
            left = left[:start] + left[possessive.end() if possessive else stop :]
    return _LEFT_OPEN.sub("", " ".join(left.split())) or name


def _named(attributes: Iterable[Attribute]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(in_words(attribute.key) for attribute in attributes))


async def write_request(
    ask: Asker,
    source: Source,
    targets: Sequence[Target],
    done: Sequence[tuple[Target, str]],
    retained: Sequence[Attribute],
    config: SanitizationConfig,
    draw: np.random.Generator,
) -> FinalRequest:
    """Make one request out of what was done and what is to be kept.

    Args:
        ask: the record's.
        source: the record.
        targets: whose values the request must not tell: all, also those that were taken along with others.
        done: targets to ask for, each with the instruction by which it was hidden.
        retained: what to ask to keep.
        config: see there.
        draw: where chance comes from.

    Raises:
        StepFailed: every reply told a value that is to be hidden, or was unusable otherwise.
    """
    length = LENGTHS[int(draw.integers(len(LENGTHS)))]
    hidden = [(each.key, each.value) for target in targets for each in target.attributes]
    values = {value.casefold() for _, value in hidden}
    stays = {in_words(each.key) for each in source.attributes if each.value.casefold() not in values}
    clauses = tuple(
        Clause(
            without_values(target.name, values),
            target.label,
            _named(target.attributes) if names_members(target, stays, config.omit_members_share, draw) else (),
            order,
        )
        for target, order in done
    )

    def check(reply: Mapping[str, str]) -> str:
        return _checked(reply["instruction"].strip(), hidden)

    text = await ask.json(
        "request",
        REQUEST.render(targets=clauses, kept=_named(retained), length=length),
        json_object(instruction={"type": "string", "minLength": 20, "maxLength": 1500}),
        temperature=config.warm,
        max_tokens=REQUEST_TOKENS,
        check=check,
        invents=True,
    )
    return FinalRequest(text, clauses, length)


def _checked(text: str, hidden: Sequence[tuple[str, str]]) -> str:
    if is_refusal(text):
        raise RequestUnusable("refusal", "the reply refuses the task; the people and facts in it are invented")
    if (told := count_words(text)) < LEAST_WORDS:
        raise RequestUnusable("request_too_short", f"a request of {told} words: write whole sentences")
    if told_values := leaks(text, hidden):
        named = ", ".join(repr(leak.value) for leak in told_values)
        raise RequestUnusable(
            "value_in_request", f"the request itself tells what is to be hidden: {named}. Leave it out"
        )
    return text
