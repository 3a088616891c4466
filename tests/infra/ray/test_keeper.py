import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from infra.ray.cluster import Size
from infra.ray.keeper import Keeper, KeeperUnavailable, LocalKeeper, ray_keeper
from tasks.diversity.pool import Reservoir

AXES = np.eye(3, dtype=np.float32)


def reservoir(pid_file: Path) -> Reservoir:
    pid_file.write_text(str(os.getpid()))
    return Reservoir(seed=1, capacity=10)


async def size_or_error(keeper: Keeper) -> int | str:
    try:
        return await keeper.size()
    except KeeperUnavailable as error:
        return str(error)


@pytest.fixture(params=["here", pytest.param("actor", marks=pytest.mark.ray)])
async def keeper(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Keeper]:
    if request.param == "here":
        yield LocalKeeper(Reservoir(seed=1, capacity=10))
    else:
        request.getfixturevalue("two_nodes")
        with ray_keeper(partial(reservoir, tmp_path / "pid")) as handle:
            yield handle


async def test_what_is_added_is_drawn_the_same_here_and_in_an_actor(keeper: Keeper) -> None:
    assert await keeper.size() == 0
    await keeper.add(AXES[:1])
    await keeper.add(AXES[1:])
    assert await keeper.size() == 3
    assert sorted(map(tuple, await keeper.sample(5, seed=7))) == sorted(map(tuple, AXES))
    assert (await keeper.sample(2, seed=7)).shape == (2, 3)


async def test_what_the_reservoir_refuses_is_refused_with_its_own_error(keeper: Keeper) -> None:
    with pytest.raises(ValueError, match="unit"):
        await keeper.add(2 * AXES)
    assert await keeper.size() == 0


@pytest.mark.ray
async def test_a_dead_keeper_is_an_error_and_starts_again_from_its_maker(two_nodes: Size, tmp_path: Path) -> None:
    make: Callable[[], Reservoir] = partial(reservoir, tmp_path / "pid")
    with ray_keeper(make) as keeper:
        await keeper.add(AXES)
        os.kill(int((tmp_path / "pid").read_text()), signal.SIGKILL)
        answers: list[int | str] = []  # 3 until Ray sees the death, errors while the actor starts again, then 0
        while (not answers or answers[-1] != 0) and len(answers) < 300:
            answers.append(await size_or_error(keeper))
            await asyncio.sleep(0.1)
    assert answers[-1] == 0
    assert any("pool keeper, size: " in str(answer) for answer in answers)
