import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.propagate import Spread, most_spread, propagate, propagate_levels
from tasks.surprise.repeats import Repeats, Straddling, find_repeats
from tests.tasks.surprise import naive
from tests.tasks.surprise.batches import Rows, booleans, offsets, repetitive, split, whole_numbers

Drawn = tuple[list[list[int]], list[list[bool]], list[int]]
STRADDLING = st.sampled_from(["clip", "strict"])


def repeats_of(
    ids: Rows,
    width: int,
    *,
    supervised: Rows | None = None,
    groups: list[int] | None = None,
    straddling: Straddling = "clip",
) -> Repeats:
    return find_repeats(
        whole_numbers(ids),
        offsets(ids),
        np.array([0] * len(ids) if groups is None else groups, dtype=np.int64),
        booleans([[True] * len(row) for row in ids] if supervised is None else supervised),
        width=width,
        straddling=straddling,
    )


def propagated(masks: Rows, ids: Rows, width: int) -> list[list[int]]:
    """Ones and zeros, all supervised and in one group."""
    return split(propagate(booleans(masks), repeats_of(ids, width)).astype(np.int64), offsets(ids))


@given(drawn=repetitive(), width=st.integers(1, 5), straddling=STRADDLING, data=st.data())
@settings(max_examples=300, deadline=None)
def test_the_mask_is_the_one_that_looking_again_and_again_ends_with(
    drawn: Drawn, width: int, straddling: Straddling, data: st.DataObject
) -> None:
    ids, supervised, groups = drawn
    masks = [[held and data.draw(st.booleans()) for held in row] for row in supervised]
    repeats = repeats_of(ids, width, supervised=supervised, groups=groups, straddling=straddling)
    expected = naive.propagated(masks, ids, groups, supervised, width, strict=straddling == "strict")
    assert propagate(booleans(masks), repeats).tolist() == booleans(expected).tolist()


@given(drawn=repetitive(), width=st.integers(1, 4), straddling=STRADDLING, data=st.data())
@settings(max_examples=200, deadline=None)
def test_propagated_levels_are_the_propagated_masks_of_all_thresholds(
    drawn: Drawn, width: int, straddling: Straddling, data: st.DataObject
) -> None:
    ids, supervised, groups = drawn
    level = st.sampled_from([-math.inf, -math.inf, -1.5, 0.0, 0.25, 1.0, 2.0, 3.0, 7.0])
    levels = np.array([data.draw(level) if held else -math.inf for row in supervised for held in row])
    repeats = repeats_of(ids, width, supervised=supervised, groups=groups, straddling=straddling)
    swept = propagate_levels(levels, repeats)
    for threshold in (-2.0, *np.unique(levels[np.isfinite(levels)]), 8.0):
        assert (swept >= threshold).tolist() == propagate(levels >= threshold, repeats).tolist()
    assert set(swept) <= set(levels)


def test_many_levels_over_a_long_text_propagate_as_single_masks_do() -> None:
    rng = np.random.default_rng(0)
    ids = [rng.integers(0, 6, size=3000).tolist() for _ in range(3)]
    repeats = repeats_of(ids, 5)
    levels = rng.gamma(1.0, 2.0, size=9000)
    levels[rng.random(9000) < 0.5] = -math.inf
    swept = propagate_levels(levels, repeats)
    for threshold in rng.choice(levels[levels > 0], size=20):
        assert np.array_equal(swept >= threshold, propagate(levels >= threshold, repeats))


def test_overlapping_occurrences_mask_one_another() -> None:
    assert propagated([[1, 1, 0, 0, 0]], [[1, 2, 1, 2, 1]], 2) == [[1, 1, 1, 1, 1]]


def test_a_chain_is_followed_to_its_end() -> None:
    ids = [[1, 2, 3], [2, 3, 4], [3, 4, 5], [4, 5, 6]]
    masks = [[1, 1, 1], [0, 0, 1], [0, 0, 1], [0, 0, 1]]
    assert propagated(masks, ids, 2) == [[1, 1, 1]] * 4


def test_adjacent_runs_that_were_selected_apart_make_new_ngrams() -> None:
    # 1 2 is masked by one window and 3 4 by another; only together do they hold 2 3, which stands elsewhere.
    assert propagated([[1, 1, 1, 1, 0], [0, 0, 0, 0, 0]], [[1, 2, 3, 4, 9], [8, 2, 3, 8, 8]], 2)[1] == [0, 1, 1, 0, 0]


def test_the_ends_of_a_record_are_reached_by_propagation() -> None:
    assert propagated([[0, 1, 1, 0], [0, 0, 0, 0]], [[9, 5, 6, 9], [5, 6, 7, 8]], 2) == [[0, 1, 1, 0], [1, 1, 0, 0]]


def test_a_value_that_a_leading_space_made_other_tokens_of_escapes() -> None:
    # "pw" as tokens 5 6, " pw" as 7 6: the ids decide, not the letters; docs/surprise.md says so.
    assert propagated([[1, 1], [0, 0], [0, 0]], [[5, 6], [7, 6], [5, 6]], 2) == [[1, 1], [0, 0], [1, 1]]


def test_an_ngram_does_not_cross_from_one_record_to_the_next() -> None:
    assert propagated([[0, 1], [1, 0], [0, 0]], [[7, 1], [2, 7], [1, 2]], 2) == [[0, 1], [1, 0], [0, 0]]


def test_nothing_passes_between_groups_nor_among_records_of_none() -> None:
    ids, masks = [[1, 2]] * 5, [[1, 1], [0, 0], [0, 0], [1, 1], [0, 0]]
    repeats = repeats_of(ids, 2, groups=[4, 4, 9, -1, -1])
    after = split(propagate(booleans(masks), repeats).astype(np.int64), offsets(ids))
    assert after == [[1, 1], [1, 1], [0, 0], [1, 1], [0, 0]]


@pytest.mark.parametrize(("straddling", "expected"), [("clip", [0, 1]), ("strict", [0, 0])])
def test_an_occurrence_partly_outside_supervision_is_clipped_or_left(
    straddling: Straddling, expected: list[int]
) -> None:
    ids, supervised = [[1, 2], [1, 2]], [[1, 1], [0, 1]]
    repeats = repeats_of(ids, 2, supervised=supervised, straddling=straddling)
    after = propagate(np.array([True, True, False, False]), repeats)
    assert after[2:].astype(int).tolist() == expected


def test_a_chain_through_all_of_a_long_text_is_followed() -> None:
    length = 2000  # pairs (i, i+1) masked one after another: as many rounds as pairs
    ids = [[i, i + 1, i + 2] for i in range(length)]
    masks = [[1, 1, 1], *[[0, 0, 1]] * (length - 1)]
    assert all(row == [1, 1, 1] for row in propagated(masks, ids, 2))


def test_large_ids_and_many_groups_are_told_apart() -> None:
    top = 2**31 - 1
    ids = [[top, top - 1, top], [top, top - 1, top], [top, top - 1, top - 1]] * 2
    repeats = repeats_of(ids, 3, groups=[2**40, 2**40, 2**40, 5, 6, 6])
    assert repeats.start.tolist() == [0, 3]
    assert repeats.offsets.tolist() == [0, 2]


@given(drawn=repetitive(longest=20), width=st.integers(1, 9))
@settings(max_examples=150, deadline=None)
def test_repeats_are_the_ngrams_that_a_dictionary_counts_twice(drawn: Drawn, width: int) -> None:
    ids, supervised, groups = drawn
    places: dict[tuple[int, ...], list[int]] = {}
    for row, group, held, start in zip(ids, groups, supervised, offsets(ids)[:-1].tolist(), strict=True):
        for i in range(len(row) - width + 1):
            if group >= 0 and any(held[i : i + width]):
                places.setdefault((group, *row[i : i + width]), []).append(start + i)
    expected = sorted(found for found in places.values() if len(found) > 1)
    repeats = repeats_of(ids, width, supervised=supervised, groups=groups)
    assert sorted(split(repeats.start, repeats.offsets)) == expected
    for ngram, found in enumerate(split(repeats.start, repeats.offsets)):
        assert repeats.at[found].tolist() == [ngram] * len(found)
    assert np.count_nonzero(repeats.at >= 0) == repeats.start.size


def test_numbers_made_small_by_sorting_tell_ngrams_apart_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    ids = [rng.integers(0, 4, size=60).tolist() for _ in range(4)]
    direct = [repeats_of(ids, width) for width in (2, 3, 5, 8)]
    monkeypatch.setattr("tasks.surprise.repeats._MOST_NUMBERS", 0)  # sort before every pairing
    for width, expected in zip((2, 3, 5, 8), direct, strict=True):
        found = repeats_of(ids, width)
        assert sorted(split(found.start, found.offsets)) == sorted(split(expected.start, expected.offsets))


def test_the_ngram_that_spread_furthest_comes_first_with_what_it_added() -> None:
    ids = [[1, 2, 9], [1, 2, 8], [1, 2, 7], [5, 6, 3], [5, 6, 4], [0, 0, 0]]
    before = booleans([[1, 1, 0], [0, 0, 0], [0, 0, 0], [1, 1, 0], [0, 0, 0], [0, 0, 0]])
    repeats = repeats_of(ids, 2)
    after = propagate(before, repeats)
    found = most_spread(before, after, whole_numbers(ids), repeats, 5)
    assert found == [
        Spread(ids=(1, 2), first=0, occurrences=3, tokens_added=4),
        Spread(ids=(5, 6), first=9, occurrences=2, tokens_added=2),
    ]
    assert most_spread(before, after, whole_numbers(ids), repeats, 1) == found[:1]
    nothing = repeats_of([[1, 2, 3]], 2)
    assert most_spread(booleans([[1, 1, 1]]), booleans([[1, 1, 1]]), np.array([1, 2, 3]), nothing, 5) == []


def test_a_mask_outside_supervision_or_of_another_size_is_refused() -> None:
    repeats = repeats_of([[1, 2]], 2, supervised=[[True, False]])
    with pytest.raises(ValueError, match="token 1 is masked but not supervised"):
        propagate(np.array([False, True]), repeats)
    with pytest.raises(ValueError, match="the mask has 3 elements, but there are 2 tokens"):
        propagate(np.zeros(3, dtype=np.bool_), repeats)
    with pytest.raises(ValueError, match="token 0: level NaN"):
        propagate_levels(np.array([math.nan, -math.inf]), repeats)
    with pytest.raises(ValueError, match="token 1: id -5"):
        repeats_of([[1, -5]], 2)


def test_records_shorter_than_the_ngram_and_empty_batches_have_no_repeats() -> None:
    assert propagated([[1], [1]], [[3], [3]], 2) == [[1], [1]]
    assert propagate(booleans([[]]), repeats_of([[]], 2)).size == 0
    assert propagate_levels(np.array([1.0]), repeats_of([[3]], 2)).tolist() == [1.0]
