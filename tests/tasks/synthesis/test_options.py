"""Our option lists are complete, consistent and checked when read."""

import re
import shutil
from collections import Counter
from itertools import combinations
from pathlib import Path

import pytest

from tasks import records
from tasks.synthesis import taxonomy
from tasks.synthesis.options import FOLDER, Country, OptionsError, load_options

OPTIONS = load_options()
COUNTRIES = {country.name: country for country in OPTIONS.countries}


def test_the_plain_lists_have_the_sizes_of_the_specification() -> None:
    lists = OPTIONS.sexes, OPTIONS.ethnicities, OPTIONS.income_classes, OPTIONS.blood_types, OPTIONS.marital_states
    assert [len(each) for each in lists] == [6, 36, 5, 8, 5]


def test_there_are_fifty_languages_with_codes_of_their_own() -> None:
    assert len({language.code for language in OPTIONS.languages}) == len(OPTIONS.languages) == 50


def test_languages_without_spaces_between_words_are_marked() -> None:
    unspaced = {language.code for language in OPTIONS.languages if not language.spaced}
    assert unspaced == {"zh", "yue", "ja", "th", "lo", "km", "my"}  # Korean and Vietnamese do have spaces


def test_at_least_sixty_countries_speak_many_languages() -> None:
    assert len(COUNTRIES) >= 60
    assert len({country.language for country in OPTIONS.countries}) >= 35
    assert len({country.demonym for country in OPTIONS.countries}) == len(COUNTRIES)


@pytest.mark.parametrize(
    ("country", "number"),
    [
        ("United States", "078-05-1120"),
        ("United Kingdom", "AB 12 34 56 C"),
        ("Sweden", "811218-9876"),
        ("Finland", "131052-308T"),
        ("Italy", "RSSMRA85T10A562S"),
        ("Spain", "12345678Z"),
        ("Singapore", "S1234567D"),
        ("Poland", "44051401359"),
        ("China", "11010519491231002X"),
        ("Brazil", "111.444.777-35"),
        ("Mexico", "HEGG560427MVZRRL04"),
        ("Belgium", "85.07.30-033.28"),
        ("South Africa", "800101 5009 087"),
        ("France", "2 94 03 75 120 005 22"),
        ("Switzerland", "756.9217.0769.85"),
        ("United Arab Emirates", "784-1980-1234567-1"),
    ],
)
def test_published_specimen_numbers_have_the_shape_of_their_country(country: str, number: str) -> None:
    assert re.fullmatch(COUNTRIES[country].id_pattern, number)


@pytest.mark.parametrize(
    ("country", "number"),
    [
        ("United States", "078051120"),
        ("United Kingdom", "QQ 12 34 56 C"),  # never given: the specimen of the forms
        ("Italy", "RSSMRA85Z10A562S"),  # Z is no month
        ("China", "11010519494231002X"),  # nor is 42
        ("Chile", "12X345X678-5"),  # the dots are dots
    ],
)
def test_numbers_of_another_shape_are_refused(country: str, number: str) -> None:
    assert not re.fullmatch(COUNTRIES[country].id_pattern, number)


def test_phone_numbers_have_their_code_and_at_most_the_fifteen_digits_of_e164() -> None:
    assert re.fullmatch(COUNTRIES["Kenya"].phone_pattern, "+254 712 345678")
    for country in OPTIONS.countries:
        repeats = [int(n or 1) for n in re.findall(r"(?:\[[0-9][-0-9]*\]|[0-9])(?:\{(\d+)\})?", country.phone_pattern)]
        assert 9 <= sum(repeats) <= 15, country.name


def test_every_domain_has_at_least_25_life_events_and_all_have_330() -> None:
    per_domain = Counter(event.domain for event in OPTIONS.events)
    assert set(per_domain) == {domain.name for domain in taxonomy.DOMAINS}
    assert min(per_domain.values()) >= 25
    assert per_domain.total() >= 330


def test_no_two_life_events_are_alike() -> None:
    words = [frozenset(re.findall(r"[a-z]{4,}", event.name.lower())) for event in OPTIONS.events]
    keys = [frozenset(event.attributes) for event in OPTIONS.events]
    for one, other in combinations(range(len(OPTIONS.events)), 2):
        pair = OPTIONS.events[one].name, OPTIONS.events[other].name
        assert len(words[one] & words[other]) * 2 <= len(words[one] | words[other]), pair
        assert len(keys[one] & keys[other]) * 2 <= len(keys[one] | keys[other]), pair


def test_event_attributes_are_specific_and_not_those_of_the_profile() -> None:
    keys = Counter(key for event in OPTIONS.events for key in event.attributes)
    assert len(keys) > 0.8 * keys.total()  # few keys serve more than one event
    assert not set(keys) & {field.name for field in records.PROFILE}
    assert not [key for key in keys if re.search(r"_(details?|info|data|stuff|notes?|description)$", key)]


def test_every_age_drawn_has_life_events_of_every_domain() -> None:
    for age in range(19, 86):
        assert {event.domain for event in OPTIONS.events if event.fits(age)} == {d.name for d in taxonomy.DOMAINS}, age


def test_an_event_fits_within_its_ages_both_ends_included() -> None:
    (twins,) = [event for event in OPTIONS.events if event.name.startswith("Birth of twins")]
    assert [twins.fits(age) for age in (19, 20, 48, 49)] == [False, True, True, False]


HEALTH = "events/health_and_wellness.toml"


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        (HEALTH, '"surgeon_name", "billed_amount", ', '"surgery_date", ', "Insurance claim denied .*listed twice"),
        (HEALTH, '"biopsy_date", "radiologist_name",', "", "Breast biopsy .*at least 5 items"),
        (HEALTH, '"biopsy_date"', '"biopsy"', "Breast biopsy .*should match pattern"),
        (HEALTH, '"Health & Wellness"', '"Health"', r"events 1 \(Insurance claim .*'Health': not one of"),
        (HEALTH, "max_age = 48", "max_age = 9", "Birth of twins .*min_age 20 is above max_age 9"),
        (HEALTH, "max_age = 48", "maximum_age = 48", "Birth of twins .*maximum_age"),
        (HEALTH, "[[events]]", "[[events]", "health_and_wellness.toml: "),
        ("countries.toml", '"Finnish"\nid_type', '"Suomi"\nid_type', "Finland: language 'Suomi' is not in the list"),
        ("countries.toml", r"[0-9]{3}-[0-9]{2}-[0-9]{4}", r"\d{3}-\d{2}-\d{4}", "United States.*more than literals"),
        ("countries.toml", "[+]358 4", "[+]359 4", r"Finland.*must begin with '\[\+\]358 '"),
        ("languages.toml", 'code = "sv"', 'code = "Swedish"', "languages 42 .Swedish.*code"),
        ("profile.toml", '"Tamil",', '"Tamil", "tamil",', "profile.toml: ethnicities: 'tamil' is listed twice"),
        ("profile.toml", "blood_types", "blood_groups", "profile.toml: blood_types: "),
    ],
)
def test_a_mistake_in_a_list_is_an_error_that_says_where(
    tmp_path: Path, file: str, old: str, new: str, message: str
) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "options")
    text = (folder / file).read_text(encoding="utf-8")
    assert old in text
    (folder / file).write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(OptionsError, match=f"(?s){message}") as caught:
        load_options(folder)
    assert file in str(caught.value)


def test_the_same_event_in_two_domains_is_an_error_whatever_its_capitals(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "options")
    media = folder / "events/media_and_comms.toml"
    text = media.read_text(encoding="utf-8")
    media.write_text(text.replace("Breakup by text message", "type 2 Diabetes diagnosis"), encoding="utf-8")
    with pytest.raises(OptionsError, match=r"media_and_comms.toml: events \d+ \(type 2 .*was read before"):
        load_options(folder)


def test_the_hash_of_the_lists_changes_with_any_of_them(tmp_path: Path) -> None:
    folder = shutil.copytree(FOLDER, tmp_path / "same")
    assert load_options(folder).sha == OPTIONS.sha
    changed = shutil.copytree(FOLDER, tmp_path / "changed")
    (changed / "profile.toml").write_text((folder / "profile.toml").read_text("utf-8") + "\n", encoding="utf-8")
    assert load_options(changed).sha != OPTIONS.sha


def test_a_country_can_be_built_in_code_and_is_checked_there_too() -> None:
    with pytest.raises(ValueError, match="must begin with"):
        Country("Utopia", "Utopian", "English", "card", "[0-9]{4}", "[0-9]{9}", "999", "[+]998 [0-9]{8}")
