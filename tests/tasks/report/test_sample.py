import numpy as np
import pytest

from tasks.report.sample import VectorSample, lots, near_share


def test_a_sample_does_not_depend_on_the_order_of_offers() -> None:
    vectors = np.eye(20, dtype=np.float32)
    drawn = lots(3, [f"r{i}" for i in range(20)])
    forth, back = VectorSample(5), VectorSample(5)
    for i in range(20):
        forth.offer(drawn[i], vectors[i])
        back.offer(drawn[19 - i], vectors[19 - i])
    expected = vectors[np.argsort(drawn)[:5]]
    assert np.array_equal(forth.vectors(), expected)
    assert np.array_equal(back.vectors(), expected)


def test_a_record_that_is_offered_twice_is_no_error() -> None:
    sample = VectorSample(2)
    for _ in range(3):
        sample.offer(7, np.ones(2, np.float32))
    assert sample.vectors().shape == (2, 2)


def test_a_sample_does_not_hold_the_shard_it_was_drawn_from() -> None:
    shard, sample = np.ones((4, 2), np.float32), VectorSample(4)
    sample.offer(1, shard[0])
    shard[:] = 0
    assert np.array_equal(sample.vectors(), [[1, 1]])


def test_another_seed_draws_other_records() -> None:
    ids = [f"r{i}" for i in range(50)]
    assert lots(1, ids) == lots(1, ids)
    assert np.argsort(lots(1, ids)).tolist() != np.argsort(lots(2, ids)).tolist()


@pytest.mark.parametrize(
    ("degrees", "share"),
    [((0, 90), 0.0), ((0, 10, 90), 2 / 3), ((0, 19, 38), 0.0), ((0, 18, 36), 1.0), ((5, 5), 1.0)],
)
def test_near_copies_are_those_within_eighteen_degrees(degrees: tuple[float, ...], share: float) -> None:
    angles = np.radians(degrees)
    vectors = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    assert near_share(vectors, 0.95) == pytest.approx(share)  # arccos 0.95 = 18.19 degrees


def test_one_record_has_no_neighbour() -> None:
    assert near_share(np.ones((1, 2), np.float32), 0.95) is None
