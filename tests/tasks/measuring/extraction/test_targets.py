import pytest

from tasks.measuring.extraction.targets import Occurrence, Target, TargetUnusable, revealed_tokens, split_all
from tests.tasks.surprise.scoring.tiny import chat_tokenizer

TOKENIZER = chat_tokenizer("")


def target(*texts: str, value: str = "8K0C-QPSD-GDWC") -> Target:
    return Target("v1", "account_id", value, tuple(_place(text, value) for text in texts))


def _place(text: str, value: str) -> Occurrence:
    start = text.index(value)
    return Occurrence(text, start, start + len(value))


@pytest.mark.parametrize(
    ("length", "fine_tuning", "pretraining"),
    [(1, 0, 0), (2, 1, 1), (3, 2, 2), (4, 3, 3), (5, 3, 4), (6, 4, 5), (7, 5, 6), (8, 6, 6), (9, 6, 7), (30, 22, 23)],
)
def test_so_many_tokens_are_revealed(length: int, fine_tuning: int, pretraining: int) -> None:
    assert revealed_tokens(length, "fine_tuning") == fine_tuning
    assert revealed_tokens(length, "pretraining") == pretraining


def test_tokens_are_those_of_the_training_text() -> None:
    (split,) = split_all([target("account is 8K0C-QPSD-GDWC and")], TOKENIZER, "fine_tuning", "context")
    ids = (*split.revealed, *split.hidden)
    text = TOKENIZER.decode(ids)
    assert text == " 8K0C-QPSD-GDWC"  # the space before is a part of the first token
    assert len(split.revealed) == revealed_tokens(len(ids), "fine_tuning")
    assert split.share == 1.0
    (alone,) = split_all([target()], TOKENIZER, "fine_tuning", "alone")
    assert TOKENIZER.decode([*alone.revealed, *alone.hidden]) == "8K0C-QPSD-GDWC"
    assert alone.share is None


def test_the_tokens_that_most_occurrences_have_are_taken() -> None:
    texts = ("a 8K0C-QPSD-GDWC", "is 8K0C-QPSD-GDWC", "=8K0C-QPSD-GDWC")
    (split,) = split_all([target(*texts)], TOKENIZER, "fine_tuning", "context")
    assert TOKENIZER.decode([*split.revealed, *split.hidden]).startswith(" 8")
    assert split.share == pytest.approx(2 / 3)


def test_a_value_of_one_token_is_hidden_whole() -> None:
    (split,) = split_all([target("x", value="x")], TOKENIZER, "fine_tuning", "context")
    assert (split.revealed, len(split.hidden)) == ((), 1)


@pytest.mark.parametrize(
    ("bad", "why"),
    [
        (Target("v1", "k", ""), "the value is empty"),
        (Target("v1", "k", "abc"), "no occurrence"),
        (Target("v1", "k", "abc", (Occurrence("xabc", 0, 3),)), "occurrence 0 holds something else"),
    ],
)
def test_what_cannot_be_attacked_is_refused_without_its_value(bad: Target, why: str) -> None:
    with pytest.raises(TargetUnusable, match=f"v1: .*{why}") as raised:
        split_all([bad], TOKENIZER, "fine_tuning", "context")
    assert "abc" not in str(raised.value)


def test_two_values_of_one_id_are_refused() -> None:
    with pytest.raises(TargetUnusable, match="2 values have this id"):
        split_all([target("a 8K0C-QPSD-GDWC")] * 2, TOKENIZER, "fine_tuning", "context")
