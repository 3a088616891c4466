"""Callers that go away before they have an answer."""

import asyncio

import httpx
import pytest

from infra.scrape import metrics_of
from infra.service.limits import ServiceLimits
from tests.infra.service.test_app import Obedient, body, served

ONE = ServiceLimits(at_once=1, waiting=4, seconds=60)


async def gives_up(url: str, path: str, content: dict[str, object]) -> None:
    """Ask for what takes long, and hang up."""
    async with httpx.AsyncClient(timeout=0.3) as client:
        with pytest.raises(httpx.ReadTimeout):
            await client.post(f"{url}{path}", json=content)


@pytest.mark.parametrize(
    ("path", "content"),
    [("/v1/clean", body("sleep 60")), ("/v1/clean/batch", {"items": [body("sleep 60")]})],
)
async def test_who_hangs_up_leaves_the_turn_to_the_next(path: str, content: dict[str, object]) -> None:
    cleaner = Obedient()
    with served(cleaner, ONE) as url:
        # One in work, four that wait: the service is full until they hang up.
        await asyncio.gather(*(gives_up(url, path, content) for _ in range(5)))
        async with httpx.AsyncClient(timeout=20) as client:
            answer = await client.post(f"{url}/v1/clean", json=body())
            counts = metrics_of((await client.get(f"{url}/metrics")).text)
    assert answer.status_code == 200
    assert cleaner.in_hand == 0
    assert cleaner.most_at_once == 1
    assert counts["privasis_requests_inside"] == 0
