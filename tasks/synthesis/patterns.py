"""Shapes of values, as JSON schema patterns: what keeps a small model exact, and any model at temperature 0 diverse.

Patterns are made of literals, character classes and ``{n}`` only (see ``options``), or are alternatives written here.
"""

import re
from collections.abc import Iterator
from datetime import date

import numpy as np

_PIECE = re.compile(r"(\[[^\]]+\]|.)(?:\{(\d+)\})?", re.DOTALL)
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_PERSON = r"[A-Z][a-z]{2,12} [A-Z][a-z]{2,14}"
_LINE = r"[^\[\]<>{}_\n]"

_BY_LAST_WORD: tuple[tuple[frozenset[str], str], ...] = (
    (frozenset({"time", "hour"}), r"^([01][0-9]|2[0-3]):[0-5][0-9]$"),
    (
        frozenset({"number", "id", "code", "reference", "serial", "docket", "plate"}),
        r"^[A-Z]{1,3}[-/ ]?[0-9]{4,8}(-[A-Z0-9]{1,3})?$",
    ),
    (
        frozenset(
            {
                "amount",
                "price",
                "cost",
                "fee",
                "sum",
                "loss",
                "payment",
                "rent",
                "salary",
                "balance",
                "total",
                "premium",
                "debt",
                "deposit",
                "budget",
                "fine",
                "refund",
                "income",
                "value",
                "estimate",
            }
        ),
        r"^[A-Z]{3} [1-9][0-9]{0,2}(,[0-9]{3}){0,2}(\.[0-9]{2})?$",
    ),
    (frozenset({"email"}), r"^[a-z0-9.]{3,24}@[a-z0-9]{2,20}\.[a-z]{2,4}$"),
    (
        frozenset(
            {
                "doctor",
                "surgeon",
                "lawyer",
                "judge",
                "landlord",
                "nurse",
                "midwife",
                "therapist",
                "counselor",
                "officer",
                "manager",
                "teacher",
                "witness",
                "supervisor",
                "agent",
                "physician",
            }
        ),
        rf"^(Dr\. |Mr\. |Ms\. )?{_PERSON}$",
    ),
)
_PEOPLE = frozenset().union(*(words for words, pattern in _BY_LAST_WORD if _PERSON in pattern))


def fact_pattern(key: str, event_date: date) -> str:
    """Return the pattern of the value that a ``snake_case`` key of a life event names.

    Dates fall into the year of the event or its neighbours; what no rule knows is one line of text.
    """
    *before, last = key.split("_")
    if last == "date":
        years = "|".join(str(event_date.year + shift) for shift in (-1, 0, 1))
        return rf"^([1-9]|[12][0-9]|3[01]) ({_MONTHS}) ({years})$"
    if last == "name" and before and before[-1] in _PEOPLE:
        last = before[-1]
    for words, pattern in _BY_LAST_WORD:
        if last in words:
            return pattern
    return rf"^{_LINE}{{2,80}}$"


def seeded(pattern: str, rng: np.random.Generator) -> str:
    """Fix every other place of a number's shape by a seeded draw; the model fills in the rest.

    Left alone, models write 123456789 and 555-0100.

    Args:
        pattern: literals, character classes and ``{n}``, without anchors.
        rng: decides the characters.
    """
    places = [place for piece in _PIECE.finditer(pattern) for place in [piece[1]] * int(piece[2] or 1)]
    return "".join(
        _escaped(str(rng.choice(list(_members(place))))) if place.startswith("[") and number % 2 else place
        for number, place in enumerate(places)
    )


def last_name_pattern(rng: np.random.Generator, letters: int = 8) -> str:
    """Return the pattern of a last name that begins with one of a few drawn letters, so that it is not always Smith."""
    drawn = "".join(sorted(rng.choice(list("ABCDEFGHIJKLMNOPRSTVWYZ"), size=letters, replace=False)))
    return rf"^[{drawn}][^\[\]<>{{}}()0-9_@:;,\n]{{1,38}}$"


def _members(character_class: str) -> Iterator[str]:
    """Yield the characters of a class such as ``[A-Z0-9+]``."""
    inside = character_class[1:-1]
    place = 0
    while place < len(inside):
        if inside[place + 1 : place + 2] == "-" and place + 2 < len(inside):
            yield from map(chr, range(ord(inside[place]), ord(inside[place + 2]) + 1))
            place += 3
        else:
            yield inside[place]
            place += 1


def _escaped(character: str) -> str:
    return character if character.isalnum() or character in " /-" else f"[{character}]"
