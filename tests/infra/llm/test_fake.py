import pytest

from infra.llm.fake import FakeBackend
from infra.llm.types import Message, Reply, Request, RequestRejected, Usage

ASK = Request((Message("system", "Be brief."), Message("user", "Hi")))


async def test_text_becomes_a_finished_reply_with_words_for_tokens() -> None:
    async with FakeBackend(lambda _: "Hello you") as backend:
        reply = await backend.complete(ASK)
    assert reply == Reply("Hello you", "stop", Usage(prompt=3, completion=2), "fake")
    assert backend.requests == [ASK]


async def test_a_reply_passes_unchanged_and_an_exception_is_raised() -> None:
    cut = Reply("Hel", "length", Usage(), "fake")
    async with FakeBackend(lambda _: cut) as backend:
        assert await backend.complete(ASK) is cut
    async with FakeBackend(lambda _: RequestRejected("too long")) as backend:
        with pytest.raises(RequestRejected, match="too long"):
            await backend.complete(ASK)
