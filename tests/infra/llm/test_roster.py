import asyncio
from collections.abc import Callable

import pytest

from infra.llm.fake import FakeBackend
from infra.llm.roster import RosterBackend, RosterUnavailable, Servers
from infra.llm.types import Backend, BackendUnavailable, Message, Request

ASK = Request((Message("user", "Hi"),), tags={"record_id": "r"})


class Board:
    """A roster that the test writes on."""

    def __init__(self, *addresses: str) -> None:
        self.addresses = addresses
        self.silent = False

    async def servers(self) -> Servers:
        if self.silent:
            raise RosterUnavailable("starts again")
        return Servers(self.addresses, "secret")


class Server(FakeBackend):
    def __init__(self, address: str) -> None:
        super().__init__(lambda _: address)
        self.closed = False

    async def __aexit__(self, *exc: object) -> None:
        self.closed = True


async def comes(what: Callable[[], bool]) -> None:
    async with asyncio.timeout(5):
        while not what():  # noqa: ASYNC110 - what comes has no event
            await asyncio.sleep(0.01)


async def test_calls_follow_the_servers_that_are_up() -> None:
    board, made = Board("a"), dict[str, Server]()

    def connect(address: str, key: str) -> Backend:
        assert key == "secret"
        made[address] = Server(address)
        return made[address]

    async with RosterBackend("m", board, connect, patience_s=30, poll_s=0.01) as backend:
        assert (await backend.complete(ASK)).text == "a"
        board.addresses = ("b",)
        await comes(lambda: "b" in made and made["a"].closed)
        assert (await backend.complete(ASK)).text == "b"
    assert made["b"].closed


async def test_while_the_roster_is_silent_the_servers_of_before_serve() -> None:
    board = Board("a")
    async with RosterBackend("m", board, lambda address, _: Server(address), patience_s=30, poll_s=0.01) as backend:
        board.silent = True
        await asyncio.sleep(0.05)
        assert (await backend.complete(ASK)).text == "a"
        board.silent, board.addresses = False, ("b",)
        async with asyncio.timeout(5):
            while (await backend.complete(ASK)).text != "b":  # noqa: ASYNC110
                await asyncio.sleep(0.01)


async def test_a_roster_that_is_silent_from_the_start_is_a_backend_to_try_later() -> None:
    board = Board("a")
    board.silent = True
    with pytest.raises(BackendUnavailable, match="starts again"):
        await RosterBackend("m", board, lambda address, _: Server(address), patience_s=1).__aenter__()
