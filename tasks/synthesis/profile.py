"""A person and what happened to them (PV section 2.1.1): seeded draws first, then two model calls fill in the rest.

The first call chooses from short lists, the second fills in the papers and the facts of the event; what the second may
write depends on the citizenship and the event that the first has chosen, and its JSON schema says so.
"""

from dataclasses import asdict, dataclass
from datetime import date
from typing import Any

from infra.llm.types import JsonSchema
from tasks.ask import Asker
from tasks.prompts import one_line
from tasks.schemas import json_object
from tasks.synthesis.draws import Draws
from tasks.synthesis.options import Country, LifeEvent
from tasks.synthesis.patterns import fact_pattern, last_name_pattern, seeded
from tasks.synthesis.prompts import DETAILS, PROFILE
from tasks.synthesis.seeds import rng

FEWEST_FACTS, MOST_FACTS = 3, 8
PROFILE_TOKENS, DETAILS_TOKENS = 160, 700


@dataclass(frozen=True, slots=True)
class Profile:
    """Who the record is about; the columns of ``tasks.records.PROFILE``."""

    first_name: str
    last_name: str
    sex: str
    age: int
    ethnicity: str
    citizenship: str
    income_class: str
    blood_type: str
    marital_status: str
    language: str
    id_type: str
    id_number: str
    passport_number: str
    phone: str
    email: str
    user_handle: str
    url: str

    @property
    def full_name(self) -> str:
        """First and last name."""
        return f"{self.first_name} {self.last_name}"

    def facts(self) -> dict[str, str]:
        """Every field as text, the full name included: what prompts show and attributes are looked up by."""
        return {"full_name": self.full_name} | {key: str(value) for key, value in asdict(self).items()}


@dataclass(frozen=True, slots=True)
class Event:
    """What happened; the columns of ``tasks.records.EVENT``."""

    name: str
    domain: str
    date: date
    attributes: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """What the first call chose."""

    last_name: str
    sex: str
    ethnicity: str
    country: Country
    event: LifeEvent


async def invent_person(ask: Asker, draws: Draws, temperature: float) -> tuple[Profile, Event]:
    """Make the drawn first name into a person to whom something happened.

    Raises:
        StepFailed: a call gave nothing usable.
    """
    choice = await _choose(ask, draws, temperature)
    keys = _drawn_facts(ask, choice.event)
    details = await ask.json(
        "details",
        DETAILS.render(
            name=f"{draws.first_name.name} {choice.last_name}",
            age=draws.age,
            sex=choice.sex,
            citizenship=choice.country.demonym,
            ethnicity=choice.ethnicity,
            marital_status=draws.marital_status,
            income_class=draws.income_class,
            country=choice.country.name,
            id_type=choice.country.id_type,
            event=choice.event.name,
            event_keys=keys,
            year=draws.event_date.year,
        ),
        _details_schema(ask, choice.country, keys, draws.event_date),
        temperature=temperature,
        max_tokens=DETAILS_TOKENS,
        check=dict[str, Any],
    )
    facts = details.pop("event")
    profile = Profile(
        first_name=draws.first_name.name,
        last_name=choice.last_name,
        sex=choice.sex,
        age=draws.age,
        ethnicity=choice.ethnicity,
        citizenship=choice.country.demonym,
        income_class=draws.income_class,
        blood_type=draws.blood_type,
        marital_status=draws.marital_status,
        language=draws.language.name,
        id_type=choice.country.id_type,
        **details,
    )
    event = Event(
        choice.event.name, choice.event.domain, draws.event_date, tuple((key, one_line(facts[key])) for key in keys)
    )
    return profile, event


async def _choose(ask: Asker, draws: Draws, temperature: float) -> Choice:
    shown = draws.shortlist
    countries = {country.demonym: country for country in shown.countries}
    events = {event.name: event for event in shown.events}
    chosen = await ask.json(
        "profile",
        PROFILE.render(
            draws=draws,
            sexes=shown.sexes,
            ethnicities=shown.ethnicities,
            citizenships=list(countries),
            life_events=list(events),
        ),
        json_object(
            sex={"enum": list(shown.sexes)},
            ethnicity={"enum": list(shown.ethnicities)},
            citizenship={"enum": list(countries)},
            life_event={"enum": list(events)},
            last_name={"type": "string", "pattern": last_name_pattern(rng(ask.run_seed, ask.record_id, "last name"))},
        ),
        temperature=temperature,
        max_tokens=PROFILE_TOKENS,
        check=dict[str, str],
    )
    return Choice(
        one_line(chosen["last_name"]),
        chosen["sex"],
        chosen["ethnicity"],
        countries[chosen["citizenship"]],
        events[chosen["life_event"]],
    )


def _drawn_facts(ask: Asker, event: LifeEvent) -> list[str]:
    """Draw which 3 to 8 of the event's attributes this person gets, in the event's order."""
    draw = rng(ask.run_seed, ask.record_id, "event-facts")
    most = min(MOST_FACTS, len(event.attributes))
    count = int(draw.integers(FEWEST_FACTS, most + 1))
    places = draw.choice(len(event.attributes), size=count, replace=False)
    return [event.attributes[place] for place in sorted(places)]


def _details_schema(ask: Asker, country: Country, event_keys: list[str], event_date: date) -> JsonSchema:
    def number(name: str, shape: str) -> JsonSchema:
        return {"type": "string", "pattern": f"^{seeded(shape, rng(ask.run_seed, ask.record_id, name))}$"}

    facts = {key: {"type": "string", "pattern": fact_pattern(key, event_date)} for key in event_keys}
    return json_object(
        id_number=number("id number", country.id_pattern),
        passport_number=number("passport number", country.passport_pattern),
        phone=number("phone", country.phone_pattern),
        email={"type": "string", "pattern": r"^[a-z0-9.]{3,30}@[a-z0-9]{2,20}[.][a-z]{2,6}$"},
        user_handle={"type": "string", "pattern": r"^[a-z0-9_]{4,20}$"},
        url={"type": "string", "pattern": r"^https://[a-z0-9./-]{4,40}$"},
        event=json_object(**facts),
    )
