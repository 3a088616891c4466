"""The memory of a chain: an event happens once, and its key is all that it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infra.llm.types import Message, Sampling
from tasks.events import MemoryLog, event_key


async def test_an_event_is_produced_once_and_then_remembered() -> None:
    log, produced = MemoryLog(), []

    async def produce() -> bytes:
        produced.append(1)
        return b"answer"

    assert [await log.once("a", produce), await log.once("a", produce), await log.once("b", produce)] == [b"answer"] * 3
    assert len(produced) == 2


async def test_an_event_that_failed_has_not_happened() -> None:
    log = MemoryLog()

    async def fail() -> bytes:
        raise ConnectionError

    async def succeed() -> bytes:
        return b"answer"

    with pytest.raises(ConnectionError):
        await log.once("a", fail)
    assert await log.once("a", succeed) == b"answer"


BASE = ("r-1", "draft", 0, "model", (Message("user", "Write."),), Sampling(), None)


@pytest.mark.parametrize(
    ("place", "other"),
    [
        (0, "r-2"),
        (1, "revise-1"),
        (2, 1),
        (3, "another model"),
        (4, (Message("user", "Write!"),)),
        (4, (Message("system", "Write."),)),
        (4, (Message("user", "Write."), Message("user", ""))),
        (5, Sampling(max_tokens=1025)),
        (5, Sampling(temperature=0.1)),
        (5, Sampling(seed=1)),
        (5, Sampling(repeat_penalty=1.1)),
        (5, Sampling(forbidden_characters="[")),
        (6, {"type": "object"}),
    ],
)
def test_whatever_changes_a_request_changes_its_key(place: int, other: object) -> None:
    changed = (*BASE[:place], other, *BASE[place + 1 :])
    assert event_key(*BASE) == event_key(*BASE)
    assert event_key(*changed) != event_key(*BASE)  # type: ignore[arg-type]


parts = st.lists(st.text(max_size=3), min_size=2, max_size=4)


@given(parts, parts)
@settings(max_examples=50, deadline=None)
def test_no_two_lists_of_parts_share_a_key(first: list[str], second: list[str]) -> None:
    assert (event_key(*first) == event_key(*second)) == (first == second)


def test_parts_cannot_be_shifted_into_each_other() -> None:
    assert event_key("r", "ab", "c") != event_key("r", "a", "bc") != event_key("r", '["a"', "bc")
