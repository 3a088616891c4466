from collections import Counter
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.training.order import Order, evaluation_batches

lengths = st.lists(st.integers(2, 50), min_size=1, max_size=40)
small = st.integers(1, 3)


@settings(deadline=None, max_examples=60)
@given(lengths, small, small, small, st.integers(0, 9))
def test_each_time_through_the_data_every_example_comes_once(
    lengths: list[int], micro: int, accumulation: int, processes: int, seed: int
) -> None:
    order = Order(lengths, micro, accumulation, processes, seed)
    steps = len(lengths)  # so that whole rounds are over
    seen = Counter(place for step in range(steps) for place in order.batch(step))
    assert set(seen) == set(range(len(lengths)))
    assert set(seen.values()) == {order.global_batch}


@settings(deadline=None, max_examples=60)
@given(lengths, small, small, small, st.integers(0, 20))
def test_processes_share_a_batch_and_read_like_lengths_at_the_same_time(
    lengths: list[int], micro: int, accumulation: int, processes: int, step: int
) -> None:
    order = Order(lengths, micro, accumulation, processes, seed=1)
    shares = [order.micro_batches(step, process) for process in range(processes)]
    assert all([len(batch) for batch in share] == [micro] * accumulation for share in shares)
    assert Counter(place for share in shares for batch in share for place in batch) == Counter(order.batch(step))
    abreast = [[lengths[place] for share in shares for place in share[turn]] for turn in range(accumulation)]
    assert all(min(earlier) >= max(later) for earlier, later in pairwise(abreast))


def test_the_order_is_that_of_the_seed_and_another_each_time_through() -> None:
    lengths = [5] * 64
    order = Order(lengths, 8, 1, 1, seed=3)

    def through(order: Order, first: int) -> list[list[int]]:
        return [order.batch(step) for step in range(first, first + 8)]

    assert through(order, 0) == through(Order(lengths, 8, 1, 1, seed=3), 0)
    assert through(order, 0) != through(Order(lengths, 8, 1, 1, seed=4), 0)
    assert through(order, 0) != through(order, 8)


@settings(deadline=None, max_examples=60)
@given(lengths, small, small)
def test_evaluation_reads_everything_once_and_keeps_processes_in_step(
    lengths: list[int], micro: int, processes: int
) -> None:
    shares = evaluation_batches(lengths, micro, processes)
    assert sorted(place for share in shares for batch in share for place in batch) == list(range(len(lengths)))
    assert len({len(share) for share in shares}) == 1
    assert all(len(batch) <= micro for share in shares for batch in share)
