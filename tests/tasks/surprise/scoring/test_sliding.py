import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.scoring.buckets import buckets
from tasks.surprise.scoring.sliding import Window, plan


def test_a_short_text_is_one_window() -> None:
    assert plan(5, 1, 10, 4) == [Window(0, 0, 5)]
    assert plan(5, 0, 10, 4) == [Window(0, 1, 5)]  # nothing stands before the first token


def test_a_long_text_slides_by_the_stride() -> None:
    assert plan(17, 2, 10, 4) == [Window(0, 0, 8), Window(4, 8, 12), Window(8, 12, 16), Window(12, 16, 17)]


def test_nothing_is_read_where_nothing_can_be_scored() -> None:
    assert plan(0, 3, 10, 4) == []
    assert plan(1, 0, 10, 4) == []


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 200), st.integers(2, 30), st.data())
def test_every_token_is_scored_once_with_its_context(count: int, context: int, data: st.DataObject) -> None:
    stride = data.draw(st.integers(1, context - 1))
    lead = data.draw(st.integers(0, context - stride))
    windows = plan(count, lead, context, stride)
    scored = [token for window in windows for token in range(window.scored, window.stop)]
    assert scored == list(range(0 if lead else 1, count))
    for window in windows:
        assert 0 <= window.first <= window.scored < window.stop <= count
        assert lead + window.stop - window.first <= context
        assert window.first == 0 or lead + window.scored - window.first >= context - stride


@pytest.mark.parametrize(("stride", "lead"), [(0, 0), (10, 0), (4, 7)])
def test_a_plan_that_cannot_keep_its_promise_is_refused(stride: int, lead: int) -> None:
    with pytest.raises(ValueError, match=r"stride"):
        plan(20, lead, 10, stride)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 20), max_size=30), st.integers(1, 40), st.booleans())
def test_batches_hold_every_reading_once_and_keep_the_budget(lengths: list[int], budget: int, padded: bool) -> None:
    batches = buckets(lengths, budget, padded=padded)
    assert sorted(place for batch in batches for place in batch) == list(range(len(lengths)))
    for batch in batches:
        sizes = [lengths[place] for place in batch]
        assert len(batch) == 1 or (len(batch) * max(sizes) if padded else sum(sizes)) <= budget
