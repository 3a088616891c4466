"""A drawn and decomposed pool serves a few records; how many depends on its size."""

import asyncio

import numpy as np
import pytest

from tasks.diversity.pool import F32, Reservoir
from tasks.diversity.shared import SharedPool
from tasks.diversity.vendi import Pool


def unit(rows: int) -> F32:
    vectors = np.random.default_rng(rows).normal(size=(rows, 8))
    found: F32 = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return found


class SlowKeeper:
    """Answers after others had their turn, as one in another process does; ``seeds`` tells what it was asked."""

    def __init__(self, vectors: int) -> None:
        self.seeds: list[int] = []
        self._reservoir = Reservoir(1)
        self._reservoir.add(unit(vectors))

    async def add(self, vectors: F32) -> None:
        self._reservoir.add(vectors)

    async def sample(self, n: int, seed: int) -> F32:
        self.seeds.append(seed)
        await asyncio.sleep(0)
        return self._reservoir.sample(n, seed)


@pytest.mark.parametrize(("vectors", "records"), [(0, 1), (15, 1), (16, 2), (64, 5), (112, 8), (500, 8)])
async def test_a_pool_serves_a_record_for_each_16_of_its_vectors_and_8_at_most(vectors: int, records: int) -> None:
    keeper = SlowKeeper(vectors)
    pool = SharedPool(keeper)
    drawn = [await pool.prepared(300, seed) for seed in range(2 * records)]
    assert keeper.seeds == [0, records]
    assert all(each is drawn[0] for each in drawn[:records])
    assert all(each is drawn[records] is not drawn[0] for each in drawn[records:])
    assert drawn[0].size == min(vectors, 300)


async def test_those_who_come_while_one_draws_get_what_it_draws() -> None:
    keeper = SlowKeeper(64)
    pool = SharedPool(keeper)
    drawn: list[Pool] = await asyncio.gather(*(pool.prepared(300, seed) for seed in range(12)))
    assert keeper.seeds == [0, 5, 10]
    assert [drawn.index(each) for each in drawn] == [0] * 5 + [5] * 5 + [10] * 2


async def test_what_was_added_is_in_the_next_draw() -> None:
    pool = SharedPool(SlowKeeper(0))
    sizes = []
    for vector in unit(5):
        sizes.append((await pool.prepared(300, 1)).size)
        await pool.add(vector)
    assert sizes == [0, 1, 2, 3, 4]
