"""A person's draws: independent, as distributed as asked, and the same whatever else is drawn."""

import datetime
from collections import Counter

import numpy as np
import pytest
from pydantic import ValidationError

from tasks.synthesis import taxonomy
from tasks.synthesis.draws import DomainWeighting, DrawConfig, Draws, draw, draw_events
from tasks.synthesis.names import FirstName
from tasks.synthesis.options import LifeEvent, load_options
from tasks.synthesis.seeds import record_id
from tests.tasks.synthesis.chance import fit

SEED = 2026
CONFIG = DrawConfig()
OPTIONS = load_options()


def population(count: int, config: DrawConfig = CONFIG) -> list[Draws]:
    return [draw(SEED, record_id(SEED, index), config) for index in range(count)]


@pytest.fixture(scope="module")
def people() -> list[Draws]:
    return population(3000)


def spread(values: list[object], over: int) -> bool:
    """Whether ``values`` look drawn uniformly from ``over`` different ones."""
    counts = Counter(values)
    return len(counts) == over and fit(list(counts.values()), [1.0] * over)


def test_the_draws_of_a_record_never_change() -> None:
    person = draw(SEED, record_id(SEED, 0), CONFIG)
    assert (person.first_name, person.age) == (FirstName("Jveon", "M"), 76)
    assert (person.income_class, person.blood_type, person.marital_status) == ("upper-middle income", "A+", "single")
    assert (person.language.code, person.event_date) == ("fa", datetime.date(2016, 10, 13))


def test_draws_do_not_depend_on_what_else_is_drawn_or_in_which_order(people: list[Draws]) -> None:
    assert [draw(SEED, record_id(SEED, index), CONFIG) for index in (2999, 7, 1234, 7)] == [
        people[index] for index in (2999, 7, 1234, 7)
    ]


def test_a_larger_run_begins_with_the_population_of_a_smaller(people: list[Draws]) -> None:
    assert population(20) == people[:20]


def test_another_run_seed_draws_other_people(people: list[Draws]) -> None:
    assert draw(SEED + 1, record_id(SEED + 1, 0), CONFIG) != people[0]


def test_changing_one_range_leaves_the_other_draws_as_they_are(people: list[Draws]) -> None:
    older = draw(SEED, record_id(SEED, 5), DrawConfig(min_age=60, events_shown=3, countries_shown=2))
    person = people[5]
    for field in ("first_name", "income_class", "blood_type", "marital_status", "language", "event_date"):
        assert getattr(older, field) == getattr(person, field)
    assert older.shortlist.ethnicities == person.shortlist.ethnicities


def test_ages_are_uniform_from_19_to_85(people: list[Draws]) -> None:
    assert {person.age for person in people} == set(range(19, 86))
    assert spread([person.age for person in people], over=67)


def test_income_blood_marriage_and_language_are_uniform_over_their_options(people: list[Draws]) -> None:
    assert spread([person.income_class for person in people], over=5)
    assert spread([person.blood_type for person in people], over=8)
    assert spread([person.marital_status for person in people], over=5)
    assert spread([person.language for person in people], over=50)


def test_draws_are_independent_of_each_other(people: list[Draws]) -> None:
    assert spread([(person.income_class, person.blood_type) for person in people], over=40)
    assert abs(np.corrcoef([p.age for p in people], [p.event_date.toordinal() for p in people])[0, 1]) < 0.07


def test_shortlists_show_every_ethnicity_and_country_equally_often(people: list[Draws]) -> None:
    shortlists = [person.shortlist for person in people]
    assert {shortlist.sexes for shortlist in shortlists} == {OPTIONS.sexes}
    assert {len(set(shortlist.ethnicities)) for shortlist in shortlists} == {8}
    assert {len({country.name for country in shortlist.countries}) for shortlist in shortlists} == {8}
    assert spread([shortlist.ethnicities[0] for shortlist in shortlists], over=36)
    assert spread([shortlist.countries[7].name for shortlist in shortlists], over=len(OPTIONS.countries))


def test_dates_cover_the_years_2000_to_2023(people: list[Draws]) -> None:
    assert spread([person.event_date.year for person in people], over=24)


def test_both_ends_of_the_ranges_are_drawn() -> None:
    new_year = DrawConfig(
        min_age=30, max_age=31, first_date=datetime.date(1999, 12, 31), last_date=datetime.date(2000, 1, 1)
    )
    drawn = population(60, new_year)
    assert spread([person.age for person in drawn], over=2)
    assert spread([person.event_date for person in drawn], over=2)


def test_ages_below_18_can_be_asked_for_so_that_the_filter_has_work() -> None:
    ages = {person.age for person in population(200, DrawConfig(min_age=0, max_age=30))}
    assert min(ages) < 18 <= max(ages)


def test_life_events_fit_the_age_and_are_distinct(people: list[Draws]) -> None:
    for person in people:
        events = person.shortlist.events
        assert len({event.name for event in events}) == 6
        assert all(event.min_age <= person.age <= event.max_age for event in events)


def domains_drawn(weighting: DomainWeighting) -> list[int]:
    rng = np.random.default_rng(11)
    drawn = Counter(draw_events(OPTIONS.events, 1, rng, 40, weighting)[0].domain for _ in range(3000))
    return [drawn[domain.name] for domain in taxonomy.DOMAINS]


PAPER = [domain.percent for domain in taxonomy.DOMAINS]
UNIFORM = [1.0] * 11


def test_domains_are_drawn_by_the_shares_of_table_1() -> None:
    assert fit(domains_drawn("paper"), PAPER)
    assert not fit(domains_drawn("paper"), UNIFORM)


def test_domains_are_drawn_uniformly_when_asked() -> None:
    assert fit(domains_drawn("uniform"), UNIFORM)
    assert not fit(domains_drawn("uniform"), PAPER)


def test_each_place_of_a_shortlist_follows_the_shares(people: list[Draws]) -> None:
    drawn = Counter(person.shortlist.events[5].domain for person in people)
    assert fit([drawn[domain.name] for domain in taxonomy.DOMAINS], PAPER)


KEYS = ("case_number", "court_name", "hearing_date", "judge_name", "fine_amount")
THREE = (
    LifeEvent("Fine paid", "Legal & Compliance", KEYS),
    LifeEvent("Fine waived", "Legal & Compliance", KEYS, min_age=60),
    LifeEvent("Fine filmed", "Media & Comms.", KEYS, max_age=59),
)


def test_within_a_domain_events_are_uniform() -> None:
    rng = np.random.default_rng(12)
    legal = [event for event in OPTIONS.events if event.domain == "Legal & Compliance" and event.fits(40)]
    assert spread([draw_events(legal, 1, rng, 40, "paper")[0].name for _ in range(3000)], over=len(legal))


def test_a_domain_that_is_used_up_gives_way_to_the_others() -> None:
    drawn = draw_events(THREE, 2, np.random.default_rng(0), 30, "paper")
    assert {event.name for event in drawn} == {"Fine paid", "Fine filmed"}


def test_too_few_fitting_events_are_an_error_that_says_how_many_there_are() -> None:
    with pytest.raises(ValueError, match="3 life events asked for age 30, but only 2 fit"):
        draw_events(THREE, 3, np.random.default_rng(0), 30, "paper")


def test_a_shortlist_longer_than_the_list_is_an_error() -> None:
    with pytest.raises(ValueError, match=r"37 ethnicities asked .* only 36: lower ethnicities_shown"):
        draw(SEED, record_id(SEED, 0), DrawConfig(ethnicities_shown=37))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"min_age": 50, "max_age": 40}, "min_age 50 is above max_age 40"),
        ({"first_date": "2020-01-02", "last_date": "2020-01-01"}, "first_date 2020-01-02 is after"),
        ({"events_shown": 0}, "events_shown"),
        ({"age_range": [19, 85]}, "age_range"),
    ],
)
def test_a_config_that_cannot_be_drawn_from_is_refused(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        DrawConfig.model_validate(wrong)
