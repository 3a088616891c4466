from hypothesis import given, settings
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from tasks.measuring.extraction.distance import edit_distances

IDS = st.lists(st.integers(0, 3), max_size=7)


@given(st.lists(IDS, max_size=5), st.lists(st.integers(0, 3), min_size=1, max_size=7))
@settings(max_examples=200, deadline=None)
def test_distances_are_those_of_another_implementation(drawn: list[list[int]], hidden: list[int]) -> None:
    assert edit_distances(drawn, hidden).tolist() == [Levenshtein.distance(each, hidden) for each in drawn]


def test_a_shift_costs_two_not_all() -> None:
    assert edit_distances([(2, 3, 4, 5), (), (1, 2, 3, 4)], (1, 2, 3, 4)).tolist() == [2, 4, 0]
