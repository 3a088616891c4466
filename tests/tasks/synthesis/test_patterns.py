"""Shapes of values: what they let through, what they keep out, and that a seed fixes every other place."""

import re
from datetime import date

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.schemas import json_object
from tasks.synthesis.options import load_options
from tasks.synthesis.patterns import fact_pattern, last_name_pattern, seeded
from tasks.synthesis.schema_check import schema_errors

OPTIONS = load_options()
DAY = date(2019, 5, 3)
SHAPES = sorted(
    {shape for each in OPTIONS.countries for shape in (each.id_pattern, each.passport_pattern, each.phone_pattern)}
)


def fits(key: str, value: str) -> bool:
    return re.search(fact_pattern(key, DAY), value) is not None


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("surgery_date", "14 May 2019"),
        ("surgery_date", "1 January 2020"),
        ("surgery_date", "31 December 2018"),
        ("call_time", "09:30"),
        ("arrival_hour", "23:59"),
        ("case_number", "AB-12345"),
        ("policy_id", "X 4823-7A"),
        ("repair_cost", "EUR 1,240.50"),
        ("yearly_income", "KES 900"),
        ("contact_email", "ana.lima@correio.test"),
        ("surgeon_name", "Dr. Rita Lima"),
        ("witness", "Rui Costa"),
        ("hospital_name", "Clínica do Mar"),
        ("cause_of_fall", "wet stairs behind the bakery"),
    ],
)
def test_a_value_of_its_kind_fits(key: str, value: str) -> None:
    assert fits(key, value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("surgery_date", "14 May 2024"),
        ("surgery_date", "32 May 2019"),
        ("surgery_date", "May 2019"),
        ("surgery_date", "on 14 May 2019"),
        ("call_time", "24:00"),
        ("call_time", "9:30 am"),
        ("case_number", "unknown"),
        ("repair_cost", "1,240"),
        ("repair_cost", "EUR 0"),
        ("surgeon_name", "Doctor's Name"),
        ("surgeon_name", "Rita"),
        ("cause_of_fall", "[cause]"),
        ("cause_of_fall", "{{ cause }}"),
        ("cause_of_fall", "______"),
        ("cause_of_fall", "wet\nstairs"),
        ("cause_of_fall", "x" * 81),
        ("cause_of_fall", ""),
    ],
)
def test_a_placeholder_or_another_kind_does_not(key: str, value: str) -> None:
    assert not fits(key, value)


def test_every_key_of_the_life_events_has_a_pattern_that_schemas_take() -> None:
    patterns = {fact_pattern(key, DAY) for event in OPTIONS.events for key in event.attributes}
    for pattern in patterns:  # it compiles, and no value may be empty
        assert schema_errors({"value": ""}, json_object(value={"type": "string", "pattern": pattern})) != []


@given(st.data(), st.sampled_from(SHAPES), st.integers(0, 2**32))
@settings(max_examples=60, deadline=None)
def test_what_fits_the_seeded_shape_fits_the_shape(data: st.DataObject, shape: str, seed: int) -> None:
    narrowed = seeded(shape, np.random.default_rng(seed))
    assert re.fullmatch(shape, data.draw(st.from_regex(narrowed, fullmatch=True)))


def test_a_seed_fixes_every_other_place_and_leaves_the_rest_to_the_model() -> None:
    narrowed = seeded("[0-9]{4}-[A-Z]{2}", np.random.default_rng(1))
    assert re.fullmatch(r"\[0-9\]\d\[0-9\]\d-[A-Z]\[A-Z\]", narrowed)


def test_another_seed_gives_another_number_and_the_same_seed_the_same() -> None:
    shapes = [seeded("[0-9]{12}", np.random.default_rng(seed)) for seed in (1, 1, 2)]
    assert shapes[0] == shapes[1] != shapes[2]


def test_a_drawn_character_is_never_read_as_a_symbol_of_patterns() -> None:
    for seed in range(20):
        narrowed = seeded("A[.+()]A[.+()]", np.random.default_rng(seed))
        drawn = re.findall(r"A(\[[.+()]\])", narrowed)
        assert len(drawn) == 2, narrowed
        assert re.fullmatch(narrowed, re.sub(r"[\[\]]", "", narrowed))


@pytest.mark.parametrize("seed", range(5))
def test_a_last_name_begins_with_one_of_the_drawn_letters(seed: int) -> None:
    pattern = last_name_pattern(np.random.default_rng(seed))
    letters = [letter for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ" if re.search(pattern, f"{letter}ima")]
    assert len(letters) == 8


@pytest.mark.parametrize("name", ["O'Brien-Lee", "Óscar", "de la Cruz", "Li", "Müller"])
def test_names_of_many_kinds_are_names(name: str) -> None:
    assert re.search(last_name_pattern(np.random.default_rng(0), letters=23), f"A{name}")


@pytest.mark.parametrize("name", ["Lima (née Costa)", "[Last Name]", "Lima\nObey me", "Lima7", "A: b", "L"])
def test_a_name_is_one_name_and_nothing_else(name: str) -> None:
    assert not re.search(last_name_pattern(np.random.default_rng(0), letters=23), name)
