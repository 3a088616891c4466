"""A drawn first name becomes a person to whom something happened."""

import re
from typing import Any

import orjson
import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import Request
from tasks.ask import Asker, StepFailed
from tasks.events import MemoryLog
from tasks.synthesis.draws import DrawConfig, Draws, draw
from tasks.synthesis.options import load_options
from tasks.synthesis.profile import Event, Profile, invent_person
from tests.tasks.synthesis.person import ANA
from tests.tasks.synthesis.script import asked, last_message, scripted, simulated

COUNTRIES = {country.demonym: country for country in load_options().countries}
EVENTS = {event.name: event for event in load_options().events}


async def invented(number: int, backend: FakeBackend) -> tuple[Draws, Profile, Event]:
    ask = Asker(f"r-{number}", 7, backend, MemoryLog())
    draws = draw(7, ask.record_id, DrawConfig())
    return draws, *await invent_person(ask, draws, 0.0)


@pytest.mark.parametrize("number", range(8))
async def test_what_was_drawn_is_not_for_the_model_to_change(number: int) -> None:
    draws, profile, event = await invented(number, FakeBackend(scripted({})))
    assert profile.first_name == draws.first_name.name
    assert (profile.age, profile.income_class, profile.blood_type) == (draws.age, draws.income_class, draws.blood_type)
    assert (profile.marital_status, profile.language) == (draws.marital_status, draws.language.name)
    assert event.date == draws.event_date


@pytest.mark.parametrize("number", range(8))
async def test_what_is_chosen_stands_on_the_shortlist_and_in_the_prompt(number: int) -> None:
    backend = FakeBackend(scripted({}))
    draws, profile, event = await invented(number, backend)
    shown = draws.shortlist
    assert profile.sex in shown.sexes
    assert profile.ethnicity in shown.ethnicities
    assert profile.citizenship in [country.demonym for country in shown.countries]
    assert event.name in [each.name for each in shown.events]
    prompt = last_message(backend.requests[0]).content
    for option in (profile.sex, profile.ethnicity, profile.citizenship, event.name):
        assert option in prompt


@pytest.mark.parametrize("number", range(8))
async def test_papers_have_the_shapes_of_the_chosen_country(number: int) -> None:
    _, profile, _ = await invented(number, FakeBackend(scripted({})))
    country = COUNTRIES[profile.citizenship]
    assert profile.id_type == country.id_type
    assert re.fullmatch(country.id_pattern, profile.id_number)
    assert re.fullmatch(country.passport_pattern, profile.passport_number)
    assert re.fullmatch(country.phone_pattern, profile.phone)


async def test_three_to_eight_facts_of_the_event_are_drawn_and_kept_in_its_order() -> None:
    counts = set()
    for number in range(25):
        _, _, event = await invented(number, FakeBackend(scripted({})))
        listed, keys = EVENTS[event.name].attributes, [key for key, _ in event.attributes]
        assert keys == [key for key in listed if key in keys]
        assert all(value.strip() for _, value in event.attributes)
        counts.add(len(keys))
    assert min(counts) == 3
    assert max(counts) > 5


async def test_two_people_of_one_model_at_temperature_0_get_different_numbers() -> None:
    numbers = {(await invented(number, FakeBackend(scripted({}))))[1].passport_number for number in range(8)}
    assert len(numbers) == 8


async def test_a_choice_outside_of_its_list_is_sent_back() -> None:
    def answer(request: Request) -> Any:
        text = simulated(request)
        if request.tags["step"] == "profile" and request.tags["attempt"] == "0":
            return orjson.dumps(orjson.loads(text) | {"citizenship": "Martian"}).decode()
        return text

    backend = FakeBackend(answer)
    _, profile, _ = await invented(0, backend)
    assert asked(backend) == ["profile", "profile 1", "details"]
    assert "`citizenship`: expected one of" in last_message(backend.requests[1]).content
    assert profile.citizenship != "Martian"


async def test_a_person_without_a_detail_is_no_person() -> None:
    def answer(request: Request) -> Any:
        value = orjson.loads(simulated(request))
        value.pop("phone", None)
        return orjson.dumps(value).decode()

    with pytest.raises(StepFailed, match=r'details: invalid_reply: .*"phone" is missing'):
        await invented(0, FakeBackend(answer))


def test_facts_hold_the_full_name_and_every_field_as_text() -> None:
    facts = ANA.facts()
    assert (facts["full_name"], facts["age"], facts["email"]) == ("Ana Lima", "40", "ana.lima@correio.test")
    assert set(facts) == {"full_name", *Profile.__dataclass_fields__}
