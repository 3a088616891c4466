"""The final request: asks for everything, tells nothing, names a group's members now and then."""

from dataclasses import replace

import pytest

from infra.llm.fake import FakeBackend
from tasks.ask import StepFailed
from tasks.sanitization.config import SanitizationConfig
from tasks.sanitization.instruction import LENGTHS, FinalRequest, names_members, without_values, write_request
from tasks.sanitization.occurrences import leaks
from tasks.sanitization.targets import Target
from tasks.synthesis.seeds import rng
from tests.tasks.sanitization.records import FACTS, attribute, source
from tests.tasks.sanitization.script import to_json
from tests.tasks.synthesis.chance import fit
from tests.tasks.synthesis.script import asker

NAME = Target("patient name", (attribute("name", "Ana Lima"),), False, "drop", 5.0)
PLACES = Target(
    "places", (attribute("clinic_city", "Porto"), attribute("address", "Rua das Flores 12")), True, "abstract", 5.0
)
RECORD = source()
DONE = [(NAME, "Drop it."), (PLACES, 'Put "a town in the north" instead.')]
GOOD = "Please take out the patient's name and make the places vague, but keep the medicine."


async def requested(backend: FakeBackend, config: SanitizationConfig | None = None, seed: int = 1) -> FinalRequest:
    kept = [attribute("main_medicine", "ibuprofen")]
    return await write_request(
        asker(backend), RECORD, [NAME, PLACES], DONE, kept, config or SanitizationConfig(), rng(seed, "r-1", "request")
    )


def saying(*texts: str) -> FakeBackend:
    return FakeBackend(lambda request: to_json({"instruction": texts[int(request.tags["attempt"])]}))


async def test_the_request_is_made_of_targets_instructions_and_what_is_kept() -> None:
    backend = saying(GOOD)
    request = await requested(backend, SanitizationConfig(omit_members_share=0))
    assert request.text == GOOD
    prompt = backend.requests[0].messages[-1].content
    for part in ("Take out: patient name", "Put in general terms: places (that is: clinic city, address)"):
        assert part in prompt
    assert "a town in the north" in prompt
    assert "main medicine" in prompt
    assert "Drop it." not in prompt


async def test_members_that_differ_by_number_alone_are_named_once() -> None:
    dates = Target("dates", (attribute("visit_date", "Porto"), attribute("visit_date_2", "Marta")), True, "drop", 5.0)
    backend, every = saying(GOOD), SanitizationConfig(omit_members_share=0)
    record = source(facts={"visit_date": "Porto", "visit_date_2": "Marta"}, groups={})
    request = await write_request(asker(backend), record, [dates], [(dates, "")], [], every, rng(1, "r-1", "request"))
    assert [each.members for each in request.clauses] == [("visit date",)]


async def test_members_are_not_named_where_something_of_the_same_name_stays() -> None:
    """The group has ``clinic_city``, and ``clinic_city_2`` is in no target."""
    two = source(facts=FACTS | {"clinic_city_2": "Marta"}, groups={})
    every = SanitizationConfig(omit_members_share=0)
    for record, members in ((RECORD, ("clinic city", "address")), (two, ())):
        backend = saying(GOOD)
        request = await write_request(asker(backend), record, [NAME, PLACES], DONE, [], every, rng(1, "r-1", "request"))
        assert request.clauses[1].members == members


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("Ana Lima's contact details", "contact details"),
        ("ANA LIMA – Personal Details (of Ana Lima)", "Personal Details (of )"),
        ("Health Details Related to Ana Lima", "Health Details"),
        ("Ana Lima", "Ana Lima"),
        ("places", "places"),
    ],
)
def test_a_group_called_after_the_person_is_asked_for_without_the_person(name: str, told: str) -> None:
    assert without_values(name, ["Ana", "Ana Lima"]) == told


async def test_no_value_of_any_target_is_in_what_the_request_is_made_from() -> None:
    porto = replace(PLACES, name="Porto and Ana Lima's other places")
    backend = saying(GOOD)
    await write_request(
        asker(backend),
        RECORD,
        [NAME, porto],
        [DONE[0], (porto, "Be vague.")],
        [],
        SanitizationConfig(),
        rng(1, "r-1", "request"),
    )
    prompt = backend.requests[0].messages[-1].content
    assert "and other places" in prompt
    assert not leaks(prompt, [("name", "Ana Lima"), ("clinic_city", "Porto")])


async def test_members_are_left_out_when_drawn_so() -> None:
    backend = saying(GOOD)
    request = await requested(backend, SanitizationConfig(omit_members_share=1))
    assert "clinic city" not in backend.requests[0].messages[-1].content
    assert [each.members for each in request.clauses] == [(), ()]


def test_members_of_a_group_are_left_out_as_often_as_configured_and_an_attribute_has_none() -> None:
    named = sum(names_members(PLACES, (), 0.25, rng(seed, "r", "x")) for seed in range(2_000))
    assert fit([named, 2_000 - named], [0.75, 0.25])
    assert not names_members(NAME, (), 0, rng(1, "r", "x"))


async def test_lengths_vary_from_record_to_record() -> None:
    lengths = {(await requested(saying(GOOD), seed=seed)).length for seed in range(30)}
    assert lengths == set(LENGTHS)


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        ("Please take Ana Lima out of the letter.", "value_in_request"),
        ("Please take ANA  LIMA out of the letter.", "value_in_request"),
        ("Please hide that it was in Porto.", "value_in_request"),
        ("I'm sorry, but I can't help with that request.", "refusal"),
        ("Clean it, now please!", "request_too_short"),
    ],
)
async def test_a_request_that_tells_a_value_or_is_none_is_asked_again_and_never_used(bad: str, reason: str) -> None:
    assert (await requested(saying(bad, GOOD))).text == GOOD
    with pytest.raises(StepFailed) as failed:
        await requested(saying(bad, bad, bad))
    assert failed.value.reason == reason


async def test_the_value_of_a_target_that_went_with_another_is_not_told_either() -> None:
    backend = saying("Please take out the patient's name and that she lives in Porto.", GOOD)
    request = await write_request(
        asker(backend), RECORD, [NAME, PLACES], DONE[:1], [], SanitizationConfig(), rng(1, "r-1", "request")
    )
    assert request.text == GOOD
