"""Guesses what a property holds from its name."""

from functools import lru_cache
from random import Random

from infra.engines.simulator.stock import whole

_KIND_OF_WORD: dict[str, str] = {
    word: kind
    for kind, words in {
        "address": "address residence",
        "age": "age",
        "amount": "amount price cost fee total salary income balance payment sum rent debt loan budget wage",
        "clock": "time hour",
        "company": "company employer organisation organization clinic hospital bank school university insurer agency",
        "count": "count size score percent rate weight height length area rank years weeks days hours kg g m m2 km",
        "country": "country citizenship nationality",
        "date": "date day dob birthday deadline",
        "document": "document record type paper",
        "edited": "edited rewritten",
        "email": "email mail",
        "format": "format layout structure style tone",
        "instruction": "instruction request",
        "handle": "handle username user nickname login",
        "job": "job occupation profession role position",
        "key": "key member",
        "language": "language",
        "month": "month",
        "name": "fullname",
        "number": "id number no code reference account policy passport licence license serial invoice ssn iban case",
        "person": "person doctor lawyer teacher witness contact relative spouse partner neighbour manager",
        "phone": "phone telephone mobile fax tel",
        "place": "place city town location birthplace hometown destination village",
        "street": "street",
        "text": "text description summary reason explanation context background situation story detail note comment "
        "message content rationale body paragraph answer reasoning justification",
        "website": "url website link homepage web",
    }.items()
    for word in words.split()
}
_SHORT, _LONG = 12, 40  # characters that a thing, and a document, may not have


@lru_cache(maxsize=4096)
def kind_of(name: str, shortest: int = 0) -> str:
    """Say which of ``values.KINDS`` fits: for ``policy_number`` a number, for ``hospital_name`` a company.

    The last telling word decides, as the head of an English compound does; where no word tells, the least length in
    characters.
    """
    *before, last = name.split("_")
    if last in ("name", "names", "surname"):
        return _kind_of_name(last, before)
    unnamed = "text" if shortest >= _LONG else "document" if shortest >= _SHORT else "thing"
    return next(filter(None, map(_kind_of_word, (last, *reversed(before)))), unnamed)


def _kind_of_name(last: str, before: list[str]) -> str:
    if {"first", "given"} & set(before):
        return "first_name"
    if last == "surname" or {"last", "family"} & set(before):
        return "last_name"
    if not before or before[-1] in ("full", "person", "own"):
        return "name"
    bearers = map(_kind_of_word, before)
    return next((kind for kind in bearers if kind in ("company", "place")), "person")


def _kind_of_word(word: str) -> str:
    forms = (word, word.removesuffix("s"), word.removesuffix("es"))
    return next((_KIND_OF_WORD[form] for form in forms if form in _KIND_OF_WORD), "")


def plausible_number(name: str, rng: Random) -> float:
    """Draw a number such as a property of this name has."""
    if "year" in name:
        return whole(rng, 2000, 2023)
    match kind_of(name):
        case "age":
            return whole(rng, 19, 85)
        case "amount":
            return round(rng.lognormvariate(6.2, 1.2), 2)
    return whole(rng, 1, 12)
