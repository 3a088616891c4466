"""Facts for an answer that says what stands in a text: every value is a phrase of the text in the prompt."""

from collections import Counter
from collections.abc import Iterable

from infra.engines.simulator.naming import kind_of
from infra.engines.simulator.prompt import phrases, words
from infra.engines.simulator.scene import Scene
from infra.engines.simulator.stock import pick

_KEYS: dict[str, tuple[str, ...]] = {
    "email": ("contact_email", "sender_email", "office_email"),
    "date": ("event_date", "letter_date", "appointment_date", "payment_date", "start_date"),
    "time": ("meeting_time", "arrival_time", "call_time"),
    "amount": ("amount_due", "amount_paid", "claimed_amount", "monthly_cost"),
    "phone": ("phone_number", "office_phone"),
    "reference": ("case_number", "policy_number", "account_number", "file_reference"),
    "address": ("street_address", "office_address"),
    "name": ("person_name", "contact_name", "company_name", "witness_name", "place_name"),
    "number": ("stated_number", "count_given"),
    "detail": ("mentioned_detail", "noted_word"),
}

_TITLES = {
    "address": "places",
    "amount": "money",
    "clock": "times of the day",
    "company": "organisations",
    "count": "numbers",
    "date": "dates",
    "email": "ways to write to people",
    "number": "file numbers",
    "person": "people",
    "phone": "telephone numbers",
    "place": "places",
}


def title_of(keys: Iterable[str]) -> str:
    """Name a group of facts after the one or two kinds that most of its keys are of."""
    kinds = Counter(_TITLES.get(kind_of(key.rstrip("_0123456789")), "details") for key in keys)
    return " and ".join(kind for kind, _ in kinds.most_common(2))


def facts_in_text(scene: Scene, least: int, most: int) -> list[tuple[str, str]]:
    """Draw facts of the quoted text as ``(key, value)``, all keys and values different.

    Single words fill up what the telling phrases leave open below ``least``; there may still be fewer.
    """
    found = phrases(scene.brief.quoted)
    chosen = scene.rng.sample(list(found), min(most, len(found)))
    if len(chosen) < least:
        details = [word for word in words(scene.brief.quoted) if word not in found]
        chosen += scene.rng.sample(details, min(least - len(chosen), len(details)))
    facts: dict[str, str] = {}
    for phrase in chosen:
        facts[_unused(pick(scene.rng, _KEYS[found.get(phrase, "detail")]), facts)] = phrase
    return list(facts.items())


def _unused(key: str, facts: dict[str, str]) -> str:
    """Number a key that is taken already."""
    number, free = 2, key
    while free in facts:
        free, number = f"{key}_{number}", number + 1
    return free
