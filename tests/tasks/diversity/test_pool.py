import math
import pickle

import numpy as np
import numpy.typing as npt
import pytest

from tasks.diversity.pool import Reservoir
from tasks.diversity.vendi import Pool


def stream(n: int) -> npt.NDArray[np.float32]:
    """Unit vectors that ``positions`` tells apart."""
    angle = np.arange(n) / n
    return np.stack([np.cos(angle), np.sin(angle)], axis=1).astype(np.float32)


def positions(vectors: npt.NDArray[np.float32], n: int) -> list[int]:
    return sorted(np.rint(np.arctan2(vectors[:, 1], vectors[:, 0]) * n).astype(int).tolist())


def uniformity(counts: npt.NDArray[np.int64], trials: int, share: float) -> float:
    """Chi-square of how often each of n items was in a sample of ``share * n`` without replacement; n - 1 degrees."""
    n, expected = len(counts), trials * share
    return float(((counts - expected) ** 2).sum() / (expected * (1 - share)) * (n - 1) / n)


CHI2_39_LOW, CHI2_39_HIGH = 16.27, 72.05  # 0.001 of the mass of 39 degrees of freedom lies beyond either


def test_every_vector_of_the_stream_is_as_likely_to_be_held() -> None:
    vectors, trials = stream(40), 6000
    counts = np.zeros(40, dtype=np.int64)
    for seed in range(trials):
        reservoir = Reservoir(seed, capacity=10)
        for batch in np.split(vectors, [1, 8, 9, 25]):
            reservoir.add(batch)
        counts[positions(reservoir.state.vectors, 40)] += 1
    assert counts.sum() == 10 * trials
    assert CHI2_39_LOW < uniformity(counts, trials, 10 / 40) < CHI2_39_HIGH


def test_every_held_vector_is_as_likely_to_be_drawn() -> None:
    reservoir, trials = Reservoir(0, capacity=64), 4000
    reservoir.add(stream(40))
    counts = np.zeros(40, dtype=np.int64)
    for seed in range(trials):
        counts[positions(reservoir.sample(12, seed), 40)] += 1
    assert counts.sum() == 12 * trials  # without replacement: a repeated position would count once
    assert CHI2_39_LOW < uniformity(counts, trials, 12 / 40) < CHI2_39_HIGH


def test_a_sample_depends_on_its_seed_alone() -> None:
    reservoir = Reservoir(7, capacity=100)
    reservoir.add(stream(300))
    np.testing.assert_array_equal(reservoir.sample(20, seed=1), reservoir.sample(20, seed=1))
    assert positions(reservoir.sample(20, seed=1), 300) != positions(reservoir.sample(20, seed=2), 300)


def test_what_is_held_depends_on_seed_and_stream_but_not_on_batches() -> None:
    vectors = stream(500)
    whole, single, other = Reservoir(7, capacity=50), Reservoir(7, capacity=50), Reservoir(8, capacity=50)
    whole.add(vectors)
    for vector in vectors:
        single.add(vector[None])
    other.add(vectors)
    np.testing.assert_array_equal(whole.state.vectors, single.state.vectors)
    assert positions(whole.state.vectors, 500) != positions(other.state.vectors, 500)


def test_a_reservoir_rebuilt_from_its_state_goes_on_as_the_first() -> None:
    vectors = stream(400)
    first = Reservoir(3, capacity=30)
    first.add(vectors[:250])
    rebuilt = Reservoir.from_state(pickle.loads(pickle.dumps(first.state)))
    for reservoir in (first, rebuilt):
        reservoir.add(vectors[250:])
    assert (rebuilt.seen, len(rebuilt)) == (400, 30)
    np.testing.assert_array_equal(first.state.vectors, rebuilt.state.vectors)
    np.testing.assert_array_equal(first.sample(9, seed=5), rebuilt.sample(9, seed=5))


def test_a_state_is_not_changed_by_what_comes_after() -> None:
    reservoir = Reservoir(3, capacity=4)
    reservoir.add(stream(4))
    before = reservoir.state
    reservoir.add(stream(100))
    assert positions(before.vectors, 4) == [0, 1, 2, 3]
    assert before.seen == 4


def test_a_sample_is_never_larger_than_what_is_held() -> None:
    reservoir = Reservoir(0)
    assert reservoir.sample(300, seed=0).shape == (0, 0)
    assert Pool.prepare(reservoir.sample(300, seed=0)).score_with(np.array([1.0, 0.0])) == 1.0
    assert Reservoir.from_state(reservoir.state).sample(3, seed=0).shape == (0, 0)
    reservoir.add(np.empty((0, 2)))
    reservoir.add(stream(5))
    assert positions(reservoir.sample(300, seed=0), 5) == [0, 1, 2, 3, 4]
    assert reservoir.sample(0, seed=0).shape == (0, 2)
    with pytest.raises(ValueError, match="negative"):
        reservoir.sample(-1, seed=0)


def test_a_bad_batch_is_refused_whole() -> None:
    reservoir = Reservoir(0)
    reservoir.add(stream(2))
    with pytest.raises(ValueError, match="accepted row 1: norm nan"):
        reservoir.add(np.array([[1.0, 0.0], [math.nan, 0.0]]))
    with pytest.raises(ValueError, match="vectors have 3 dimensions, the reservoir 2"):
        reservoir.add(np.eye(3))
    assert reservoir.seen == 2
    with pytest.raises(ValueError, match="capacity 0"):
        Reservoir(0, capacity=0)
