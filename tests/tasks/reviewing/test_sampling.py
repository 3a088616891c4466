import math
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.reviewing.sampling import Candidate, Drawn, Pool, TooFew, apportion, draw_matched, longer_share
from tasks.reviewing.tells import Length, has_markdown, is_wrapped, tells


def pool(name: str, lengths: list[int], count: int) -> Pool:
    made = Pool(count)
    for number, words in enumerate(lengths):
        made.offer(Candidate("set", f"{name}{number}", number, words, lot=(number * 7919) % 1009))
    return made


def lengths_of(drawn: Drawn) -> tuple[list[int], list[int]]:
    return sorted(each.words for each in drawn.synthetic), sorted(each.words for each in drawn.human)


def test_as_many_of_each_length_are_drawn_from_both() -> None:
    ours = pool("s", [100] * 90 + [400] * 10, 8)
    theirs = pool("h", [100] * 10 + [400] * 10 + [1000] * 80, 8)
    drawn = draw_matched(ours, theirs, 8)
    assert lengths_of(drawn) == ([100] * 4 + [400] * 4,) * 2  # both have ten of either; nobody has a partner of 1,000
    assert drawn.factor == pytest.approx(2 ** (1 / 8))


def test_the_lowest_lots_are_drawn_and_the_same_ones_every_time() -> None:
    ours, theirs = pool("s", [100] * 50, 3), pool("h", [100] * 50, 3)
    drawn = draw_matched(ours, theirs, 3)
    assert [each.lot for each in drawn.synthetic] == sorted((n * 7919) % 1009 for n in range(50))[:3]
    assert drawn == draw_matched(pool("s", [100] * 50, 3), theirs, 3)


def test_bins_are_as_coarse_as_it_takes_but_never_beyond_a_factor_of_two() -> None:
    drawn = draw_matched(pool("s", [130] * 5, 5), pool("h", [200] * 5, 5), 5)
    assert drawn.factor == 2
    with pytest.raises(TooFew, match=r"only 0 of each .*ask for fewer"):
        draw_matched(pool("s", [100] * 5, 5), pool("h", [300] * 5, 5), 5)


def test_too_few_says_how_many_there_are() -> None:
    with pytest.raises(TooFew, match="4 synthetic texts of 100 to 100 words and no human-written text only 0"):
        draw_matched(pool("s", [100] * 4, 5), Pool(5), 5)


LENGTHS = st.lists(st.integers(1, 3000), min_size=1, max_size=60)


@given(LENGTHS, LENGTHS, st.integers(1, 20))
def test_whatever_the_pools_each_bin_gives_equally_many_distinct_texts(
    ours: list[int], theirs: list[int], count: int
) -> None:
    first, second = pool("s", ours, count), pool("h", theirs, count)
    most = (first.rooms(1) & second.rooms(1)).total()
    if most < count:
        with pytest.raises(TooFew):
            draw_matched(first, second, count)
        return
    drawn = draw_matched(first, second, count)
    bins = round(1 / math.log2(drawn.factor))
    places = [
        Counter(math.floor(math.log2(each.words) * 8) // (8 // bins) for each in side)
        for side in (drawn.synthetic, drawn.human)
    ]
    assert places[0] == places[1]
    assert len({each.name for each in drawn.synthetic}) == len({each.name for each in drawn.human}) == count


@given(st.dictionaries(st.integers(), st.integers(0, 50), min_size=1), st.integers(0, 60))
def test_shares_add_up_and_no_bin_gives_more_than_it_has(room: dict[int, int], count: int) -> None:
    if count > sum(room.values()):
        with pytest.raises(ValueError, match="more than there are"):
            apportion(room, count)
        return
    shares = apportion(room, count)
    assert sum(shares.values()) == count
    assert all(0 <= share <= room[place] for place, share in shares.items())
    total = sum(room.values())
    assert all(abs(share - room[place] * count / total) < 1 for place, share in shares.items())


def test_a_large_pool_keeps_only_what_can_be_drawn() -> None:
    large = pool("s", [100] * 500, 4)
    assert sum(map(len, large._kept.values())) == 4
    assert large.lengths == {100: 500}


def test_how_often_one_is_longer_is_half_where_length_tells_nothing() -> None:
    assert longer_share([1, 2], [1, 2]) == 0.5
    assert longer_share([3, 4], [1, 2]) == 1
    assert longer_share([1], [1, 2]) == 0.25  # a tie and a loss
    with pytest.raises(ValueError, match="nothing"):
        longer_share([], [1])


def test_quartiles_are_lengths_that_occur() -> None:
    assert Length.counted("x", {10: 1, 20: 1, 30: 1, 40: 1}) == Length(
        of="x", texts=4, least=10, p25=10, median=20, p75=30, most=40
    )


def test_marks_that_give_a_source_away_are_counted() -> None:
    letter = "\n".join(["word " * 13] * 5)
    assert is_wrapped(letter)
    assert not is_wrapped("word " * 100)
    assert not is_wrapped("Dear A\n\nshort\n\nlines\n\nonly")
    assert has_markdown("## Notes\n")
    assert has_markdown("a **bold** word")
    assert has_markdown("| a | b |\n|---|---|")
    assert not has_markdown("2 * 3 * 4 | 5, see issue #7")
    assert [(each.synthetic, each.human) for each in tells(["# a", "b"], [letter])] == [(0.5, 0.0), (0.0, 1.0)]
