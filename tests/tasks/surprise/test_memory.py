from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.surprise.documents import Interval
from tasks.surprise.memory import Memory
from tasks.surprise.scoring.scorer import PLAIN, Pass, Scored, Text
from tests.tasks.surprise.character_scorer import CharacterScorer, nll

PROMPTED = Pass("prompted", "look:")


class Log:
    """A journal without a file."""

    def __init__(self) -> None:
        self.events: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self.events.get(key)

    def append(self, key: str, body: bytes) -> None:
        assert key not in self.events
        self.events[key] = body


def texts(*of: str) -> list[Text]:
    return [Text(each) for each in of]


def remembered(log: Log, of: Sequence[Text], *passes: Pass, most: int = 4, batches: int = 99) -> CharacterScorer:
    """Score ``of``, but no more than some batches, and say what was read."""
    scorer = CharacterScorer()
    memory = Memory(scorer, passes, log, "float32")
    for _, batch in zip(range(batches), memory.batches(of, most), strict=False):
        memory.remember(batch, memory.score(batch, lambda text, scored: None))
    return scorer


def test_what_was_scored_is_not_scored_again_whatever_the_batches() -> None:
    log = Log()
    of = texts("ab", "cd", "e", "fghij", "k")
    first = remembered(log, of, PLAIN, most=4, batches=2)
    assert [text for text, _ in first.read] == ["ab", "cd", "e"]
    again = remembered(log, of[::-1], PLAIN, most=1)
    assert [text for text, _ in again.read] == ["k", "fghij"]
    assert remembered(log, of, PLAIN).read == []


def test_a_pass_that_is_added_is_scored_alone() -> None:
    log = Log()
    remembered(log, texts("ab", "cd"), PLAIN)
    more = remembered(log, texts("ab", "ef", "cd"), PLAIN, PROMPTED)
    assert more.read == [("ab", ("prompted",)), ("cd", ("prompted",)), ("ef", ("plain", "prompted"))]
    (scored,) = Memory(CharacterScorer(), (PROMPTED, PLAIN), log, "float32").recall(texts("ab"))
    assert scored.nll["plain"].tolist()[1:] == [1.0]
    assert scored.nll["prompted"].tolist() == [97.0 + 5, 1.0 + 5]


@pytest.mark.parametrize("other", [Pass("prompted", "look!"), PLAIN])
def test_scores_under_another_prompt_are_others(other: Pass) -> None:
    log = Log()
    remembered(log, texts("ab"), PROMPTED)
    assert len(remembered(log, texts("ab"), other).read) == 1


def test_scores_of_another_model_context_or_markup_are_others() -> None:
    log = Log()
    remembered(log, texts("ab"), PLAIN)
    wider = CharacterScorer()
    wider.context = 128
    assert list(Memory(wider, (PLAIN,), log, "float32").batches(texts("ab"), 9))
    marked = Text("ab", (Interval(0, 1),))
    assert list(Memory(CharacterScorer(), (PLAIN,), log, "float32").batches([marked], 9))


def test_scores_that_do_not_fit_the_tokens_are_refused() -> None:
    log = Log()
    remembered(log, texts("ab"), PLAIN)
    log.events = dict.fromkeys(log.events, b"\0\0\0\0")
    with pytest.raises(ValueError, match="1 plain scores in the journal for a text of 2 tokens"):
        Memory(CharacterScorer(), (PLAIN,), log, "float32").recall(texts("ab"))
    with pytest.raises(ValueError, match="no plain scores in the journal"):
        Memory(CharacterScorer(), (PLAIN,), log, "float32").recall(texts("xy"))


def test_what_is_recalled_is_what_was_scored_to_the_last_bit() -> None:
    log = Log()
    of = texts("abz", "", "é🔑")
    remembered(log, of, PLAIN)
    for text, scored in zip(of, Memory(CharacterScorer(), (PLAIN,), log, "float32").recall(of), strict=True):
        assert isinstance(scored, Scored)
        np.testing.assert_array_equal(scored.nll["plain"], nll(text.text))


@given(st.lists(st.text("ab", max_size=9), max_size=20, unique=True), st.integers(1, 12))
@settings(max_examples=50, deadline=None)
def test_batches_are_no_larger_than_asked_unless_one_text_is(of: list[str], most: int) -> None:
    found = list(Memory(CharacterScorer(), (PLAIN,), Log(), "float32").batches(texts(*of), most))
    assert [text.text for batch in found for text in batch.texts] == of
    assert all(len(batch.texts) == 1 or sum(len(text.text) for text in batch.texts) <= most for batch in found)
