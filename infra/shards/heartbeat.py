"""Keeps a lease alive while its shard is worked on."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from infra.shards.lease import Lease

BEATS_PER_TTL = 4


@asynccontextmanager
async def heartbeat(lease: Lease, ttl_s: float) -> AsyncIterator[None]:
    """Renew ``lease`` for the length of the block; when it is lost, the block is cancelled and ``LeaseLost`` raised."""

    async def beat() -> None:
        while True:
            await asyncio.sleep(ttl_s / BEATS_PER_TTL)
            await asyncio.to_thread(lease.renew)

    try:
        async with asyncio.TaskGroup() as group:
            beating = group.create_task(beat())
            yield
            beating.cancel()
    except* Exception as errors:  # noqa: BLE001 - raised again at once, as itself
        raise errors.exceptions[0] from None
