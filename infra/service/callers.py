"""Work that ends when nobody waits for it: a caller that gave up would take turns, and be paid for, to the end."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from fastapi import Request

GONE = 499  # what nginx notes of a connection that the client has closed: nobody reads it but the metrics
R = TypeVar("R")


class CallerGone(Exception):
    """Whoever asked has closed the connection."""


async def while_awaited(request: Request, work: Callable[[], Awaitable[R]]) -> R:
    """Do ``work`` as long as the caller is there; then it is cancelled, and has ended when this raises.

    Args:
        request: whose body has been read: all that can still come is the end of the connection.
        work: what it asks for.

    Raises:
        CallerGone: the connection was closed first.
    """
    working, leaving = asyncio.ensure_future(work()), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait((working, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            leaving.result()
            raise CallerGone
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()
        await asyncio.gather(working, leaving, return_exceptions=True)


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
