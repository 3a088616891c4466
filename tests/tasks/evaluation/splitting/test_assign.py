"""Splits are decided by the person alone; shares come out; nobody moves."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from tasks.evaluation.splitting.assign import Assignment, SplitConfig, assign, person_of, place_of
from tasks.evaluation.splitting.statistics import SplitStatistics, statistics

CONFIG = SplitConfig(test=0.2, validation=0.1)


@pytest.mark.parametrize(
    ("place", "verified", "full_success", "split", "reason"),
    [
        (0.0, True, None, "test", "not_evaluated"),
        (0.19, True, True, "vanilla", "full_success"),
        (0.19, True, False, "hard", "no_full_success"),
        (0.19, False, False, "hard", "no_full_success"),
        (0.19, False, True, "hard", "unverified"),
        (0.2, True, None, "validation", "verified"),
        (0.2, False, None, "left_out", "unverified"),
        (0.31, True, None, "train", "verified"),
        (0.31, False, True, "left_out", "unverified"),
        (0.9999, True, False, "train", "verified"),
    ],
)
def test_the_place_decides_and_the_judgement_only_names_the_test(
    place: float, verified: bool, full_success: bool | None, split: str, reason: str
) -> None:
    assert assign(place, CONFIG, verified=verified, full_success=full_success) == Assignment(split, reason)  # type: ignore[arg-type]


def test_shares_come_out_over_many_people() -> None:
    places = [place_of(person_of(f"Ana {number}", "Lima"), 0) for number in range(5000)]
    splits = [assign(place, CONFIG, verified=True, full_success=None).split for place in places]
    assert splits.count("test") == pytest.approx(1000, abs=4 * (5000 * 0.2 * 0.8) ** 0.5)
    assert splits.count("validation") == pytest.approx(500, abs=4 * (5000 * 0.1 * 0.9) ** 0.5)
    assert len(set(places)) == 5000


def test_places_are_fixed_for_ever() -> None:
    """Were these to change, records would move between training and test of data sets that are split already."""
    assert person_of("Ana", "Lima") == "1f013c5ffc299808447577fcafaefcc1"
    assert place_of("1f013c5ffc299808447577fcafaefcc1", 0) == 0.24713333973612828
    assert place_of("1f013c5ffc299808447577fcafaefcc1", 1) != 0.24713333973612828


@given(st.text(), st.text(), st.integers(0, 9))
@settings(max_examples=50, deadline=None)
def test_a_place_lies_from_0_to_1(first: str, last: str, seed: int) -> None:
    assert 0 <= place_of(person_of(first, last), seed) < 1


def test_the_same_name_otherwise_written_is_the_same_person_and_parts_do_not_run_together() -> None:
    assert person_of("José", "Lima") == person_of("JOSE\u0301", " lima")
    assert person_of("Ana", "Lima") != person_of("Lima", "Ana")
    assert person_of("An", "aLima") != person_of("Ana", "Lima")


def test_shares_must_leave_something_to_train_on() -> None:
    with pytest.raises(ValidationError, match=r"test 0\.6 and validation 0\.4 leave nothing"):
        SplitConfig(test=0.6, validation=0.4)


def test_statistics_by_hand() -> None:
    def triplet(name: str, *sizes: int, words: int) -> dict[str, object]:
        targets = [{"is_group": size > 1, "attributes": [{}] * size} for size in sizes]
        return {"record_id": name, "targets": targets, "words": words, "instruction_words": 2 * words}

    rows = [triplet("a", 1, words=10), triplet("b", 3, 1, words=20), triplet("c", 1, words=5), triplet("d", words=1)]
    found = statistics(rows, {"a": "vanilla", "b": "vanilla", "c": "train"})
    assert found == (
        SplitStatistics("train", 1, 1.0, 0.0, 10.0, 5.0),
        SplitStatistics("vanilla", 2, 1.5, 0.6, 30.0, 15.0),
    )
